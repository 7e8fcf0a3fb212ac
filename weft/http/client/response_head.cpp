#include <weft/http/client/response_head.hpp>

namespace weft::http {

response_framing response_head::framing(http::method asked) const noexcept {
  const unsigned status_class = facts_.status / 100U;
  if (status() == http::status::switching_protocols) return response_framing::tunnel;
  if (asked == http::method::head || is_bodiless(status())) return response_framing::none;
  if (asked == http::method::connect && status_class == 2) return response_framing::tunnel;
  if (chunked()) return response_framing::chunked;
  return content_length() ? response_framing::length : response_framing::until_close;
}

bool response_head::keep_alive(http::method asked) const noexcept {
  const response_framing how = framing(asked);
  const bool announces_content = chunked() || content_length().value_or(0) != 0;
  if (status() == http::status::no_content && announces_content) return false;
  return wants_keep_alive() && how != response_framing::until_close &&
         how != response_framing::tunnel;
}

}  // namespace weft::http

#include <weft/http/client/response_body.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>

namespace weft::http {

void response_body::begin(response_framing how, std::uint64_t length_bytes) noexcept {
  *this = response_body{};
  framing_ = how;
  left_ = how == response_framing::length ? length_bytes : 0;
  const bool is_empty =
      how == response_framing::none || (how == response_framing::length && length_bytes == 0);
  status_ = is_empty ? body_status::complete : body_status::incomplete;
}

body_piece response_body::next(std::string_view input, const limits& bounds) noexcept {
  WEFT_DEBUG_ASSERT(status_ == body_status::incomplete, "nothing comes after the end of a body");
  if (framing_ == response_framing::chunked) return next_chunked(input, bounds);
  const bool has_length = framing_ == response_framing::length;
  const std::uint64_t coming = has_length ? left_ : input.size();
  if (coming > bounds.body_bytes - given_) {
    if (!has_length) given_ = bounds.body_bytes;
    status_ = body_status::failed;
    return {status_, 0, {}};
  }
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(coming, input.size()));
  given_ += size;
  left_ -= has_length ? size : 0;
  if (has_length && left_ == 0) status_ = body_status::complete;
  return {status_, size, input.substr(0, size)};
}

body_piece response_body::next_chunked(std::string_view input, const limits& bounds) noexcept {
  const chunked_piece piece = chunks_.next(input, bounds);
  if (piece.status == chunked_status::complete) status_ = body_status::complete;
  if (piece.status == chunked_status::failed) status_ = body_status::failed;
  return {status_, piece.consumed_bytes, piece.content};
}

bool response_body::ended() noexcept {
  const bool ends_with_it =
      framing_ == response_framing::until_close || framing_ == response_framing::tunnel;
  if (ends_with_it && status_ == body_status::incomplete) status_ = body_status::complete;
  return is_complete();
}

protocol_fault response_body::fault() const noexcept {
  protocol_fault why = framing_ == response_framing::chunked
                           ? chunks_.fault()
                           : describe(fault_kind::body_too_large, given_);
  why.code = status::bad_gateway;
  return why;
}

bool response_body::is_too_large() const noexcept {
  return framing_ != response_framing::chunked ||
         chunks_.fault().code == status::content_too_large ||
         chunks_.fault().code == status::request_header_fields_too_large;
}

}  // namespace weft::http

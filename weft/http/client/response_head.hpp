// What the parser found in the head of one response.
//
// Contract: filled by response_parser::parse when that says `complete`; owns nothing, as
// message_head has it. How the message goes on depends on what was asked: framing() and
// keep_alive() take the method of the request. Single thread.
//
//   if (parser.parse(received, head, bounds) == parse_status::complete)
//     body.begin(head.framing(method::get), head.content_length().value_or(0));
#pragma once

#include <cstdint>
#include <string_view>

#include <weft/http/message_head.hpp>
#include <weft/http/status.hpp>

namespace weft::http {

// What follows a response's head, and where that ends (RFC 9112 section 6.3).
enum class response_framing : std::uint8_t {
  none,         // nothing: another response
  length,       // as many bytes as Content-Length says
  chunked,      // chunks
  until_close,  // all that comes until the connection ends
  tunnel,       // no HTTP: what CONNECT or Upgrade has asked for
};

class response_head : public detail::message_head {
 public:
  // 100 to 999; those above 599 are to be taken for errors of the server (RFC 9110 section 15).
  [[nodiscard]] http::status status() const noexcept {
    return static_cast<http::status>(facts_.status);
  }
  // 1xx: the response to the same request is still to come; but for 101, which is the last.
  [[nodiscard]] bool is_interim() const noexcept {
    return facts_.status < 200 && status() != http::status::switching_protocols;
  }
  // As sent; may be empty. Means nothing.
  [[nodiscard]] std::string_view reason() const noexcept {
    return view(reason_begin, facts_.reason_end);
  }

  [[nodiscard]] response_framing framing(http::method asked) const noexcept;
  // Whether the connection may be used for another request behind this response (RFC 9112
  // section 9.3). Not if it is a 204 that announces content: that may follow and be taken for the
  // next response.
  [[nodiscard]] bool keep_alive(http::method asked) const noexcept;

  static constexpr std::uint32_t reason_begin = 13;  // behind "HTTP/1.1 200 "
};

}  // namespace weft::http

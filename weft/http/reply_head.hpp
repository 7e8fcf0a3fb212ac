// The head of a reply, formatted where it will be sent from.
//
// Contract: write() fills at most most_bytes(), a bound that takes no counting. Content-Length
// stands wherever the status allows it (RFC 9110 section 8.6), Connection only where it says
// something new: `close`, or `keep-alive` to an HTTP/1.0 client. Allocates nothing.
//
//   reply_head head{.code = status::ok, .content_type = "text/plain", .content_length = 6};
//   char* const begin = stream.prepare(head.most_bytes()).data();
//   stream.commit(head.write(begin) - begin);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/http/status.hpp>

namespace weft::http {

enum class connection_field : std::uint8_t { none, close, keep_alive };

struct reply_head {
  status code = status::ok;
  std::string_view date{};          // empty: no Date
  std::string_view content_type{};  // empty: none
  std::uint64_t content_length = 0;
  std::string_view fields{};  // further ones, each with its line end
  connection_field connection = connection_field::none;

  [[nodiscard]] std::size_t most_bytes() const noexcept {
    constexpr std::size_t all_but_what_is_given = 192;
    return all_but_what_is_given + date.size() + content_type.size() + fields.size();
  }
  /// Gives the end of what was written.
  char* write(char* out) const noexcept;
};

}  // namespace weft::http

// What a request's and a response's head have in common.
//
// Contract: the base of parsed_head and response_head, which have the rest. Owns nothing: its views
// lie in the bytes that the parser was given, and live as long as they. When the bytes have moved
// as a whole, rebase() makes all views follow. Single thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/http/headers.hpp>
#include <weft/http/method.hpp>

namespace weft::http {

// RFC 9112 section 3.2.
enum class target_form : std::uint8_t { origin, absolute, authority, asterisk };

namespace detail {

enum head_flag : std::uint16_t {
  has_host = 1,
  has_content_length = 2,
  has_transfer_encoding = 4,
  says_close = 8,
  says_keep_alive = 16,
  says_upgrade = 32,
  expects_continue = 64,
  path_needs_normalizing = 128,
  odd_line = 256,  // the request line asks for a closer look than GET or POST and a path do
  unknown_method = 512,
};

// What is known of a head: positions from its start, and bits. Few bytes, since the parser keeps a
// copy between two calls.
struct head_facts {
  std::uint64_t content_length = 0;
  std::uint32_t size = 0;
  std::uint32_t target_begin = 0;
  std::uint32_t target_end = 0;
  std::uint32_t path_begin = 0;
  std::uint32_t query_begin = 0;  // of the "?"; 0 where there is none
  std::uint32_t reason_end = 0;   // of a response
  std::uint16_t flags = 0;
  std::uint16_t status = 0;  // of a response
  http::method method = http::method::get;
  target_form form = target_form::origin;
  std::uint8_t minor_version = 1;

  void set(head_flag flag) noexcept { flags = static_cast<std::uint16_t>(flags | flag); }
  [[nodiscard]] bool has(head_flag flag) const noexcept { return (flags & flag) != 0; }
};

class message_head {
 public:
  // Bytes of the head, the empty line included: the body begins there.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return facts_.size; }
  // 1 for HTTP/1.1 and later minor versions (RFC 9110 section 2.5), 0 for HTTP/1.0.
  [[nodiscard]] unsigned minor_version() const noexcept { return facts_.minor_version; }

  [[nodiscard]] const header_list& headers() const noexcept { return headers_; }

  // Content-Length, where given.
  [[nodiscard]] std::optional<std::uint64_t> content_length() const noexcept {
    return facts_.has(has_content_length) ? std::optional{facts_.content_length} : std::nullopt;
  }
  [[nodiscard]] bool chunked() const noexcept { return facts_.has(has_transfer_encoding); }
  // Whether Connection lists "upgrade"; the Upgrade field itself is among the headers.
  [[nodiscard]] bool upgrade() const noexcept { return facts_.has(says_upgrade); }

  // The same bytes now begin at `head`.
  void rebase(const char* head) noexcept { headers_.base_ = head; }

 protected:
  friend class head_parser;

  // Whether the connection is to be kept (RFC 9112 section 9.3).
  [[nodiscard]] bool wants_keep_alive() const noexcept {
    return !facts_.has(says_close) && (facts_.minor_version != 0 || facts_.has(says_keep_alive));
  }
  [[nodiscard]] std::string_view view(std::uint32_t begin, std::uint32_t end) const noexcept {
    return {headers_.base_ + begin, end - begin};
  }

  head_facts facts_;
  header_list headers_;
};

}  // namespace detail

}  // namespace weft::http

// What the parser found in one request head.
//
// Problem: the fields of a head take 1.6 KiB, which an idle connection cannot afford, and a handler
// that waits needs them until it has answered. Contract: a parsed_head is filled by
// request_parser::parse when that says `complete`, and owns nothing: its views lie in the bytes
// given to that call and live as long as they. One belongs to each request that is being answered
// (draw it from a pool); until a head is complete, connections may share one, since the parser
// keeps what it must remember in itself. When the bytes have moved as a whole, rebase() makes all
// views follow. Single thread.
//
//   if (parser.parse(received, head, bounds) == parse_status::complete)
//     route(head.method(), head.path());
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
  std::uint16_t flags = 0;
  http::method method = http::method::get;
  target_form form = target_form::origin;
  std::uint8_t minor_version = 1;

  void set(head_flag flag) noexcept { flags = static_cast<std::uint16_t>(flags | flag); }
  [[nodiscard]] bool has(head_flag flag) const noexcept { return (flags & flag) != 0; }
};

}  // namespace detail

class parsed_head {
 public:
  // Bytes of the head, the empty line included: the body begins there.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return facts_.size; }

  [[nodiscard]] http::method method() const noexcept { return facts_.method; }
  // As sent: "/a?b", "http://host/a?b", "host:443" or "*".
  [[nodiscard]] std::string_view target() const noexcept {
    return view(facts_.target_begin, facts_.target_end);
  }
  [[nodiscard]] target_form form() const noexcept { return facts_.form; }
  // Without the query, percent-encoded as sent; begins with "/". "*" and authorities have no path:
  // it is empty then.
  [[nodiscard]] std::string_view path() const noexcept {
    const std::string_view sent = view(facts_.path_begin, path_end());
    return sent.empty() && facts_.form == target_form::absolute ? std::string_view{"/"} : sent;
  }
  // After the "?", percent-encoded as sent; empty where there is none.
  [[nodiscard]] std::string_view query() const noexcept {
    return facts_.query_begin == 0 ? std::string_view{}
                                   : view(facts_.query_begin + 1, facts_.target_end);
  }
  // Whether path() holds a percent-encoding or a dot segment, so that normalize_path() must see it
  // before a router.
  [[nodiscard]] bool path_needs_normalizing() const noexcept {
    return facts_.has(detail::path_needs_normalizing);
  }
  // 1 for HTTP/1.1 and later minor versions (RFC 9110 section 2.5), 0 for HTTP/1.0.
  [[nodiscard]] unsigned minor_version() const noexcept { return facts_.minor_version; }

  [[nodiscard]] const header_list& headers() const noexcept { return headers_; }

  // Content-Length, where given. Neither this nor chunked(): there is no body.
  [[nodiscard]] std::optional<std::uint64_t> content_length() const noexcept {
    return facts_.has(detail::has_content_length) ? std::optional{facts_.content_length}
                                                  : std::nullopt;
  }
  [[nodiscard]] bool chunked() const noexcept { return facts_.has(detail::has_transfer_encoding); }
  [[nodiscard]] bool has_body() const noexcept { return chunked() || facts_.content_length != 0; }
  // Whether the client wants the connection kept (RFC 9112 section 9.3).
  [[nodiscard]] bool keep_alive() const noexcept {
    return !facts_.has(detail::says_close) &&
           (facts_.minor_version != 0 || facts_.has(detail::says_keep_alive));
  }
  // Whether it waits for "100 Continue" before it sends the body. Never in HTTP/1.0, never without
  // a body.
  [[nodiscard]] bool expect_continue() const noexcept {
    return facts_.has(detail::expects_continue) && has_body();
  }
  // Whether Connection lists "upgrade"; the Upgrade field itself is among the headers.
  [[nodiscard]] bool upgrade() const noexcept { return facts_.has(detail::says_upgrade); }

  // The same bytes now begin at `head`.
  void rebase(const char* head) noexcept { headers_.base_ = head; }

 private:
  friend class request_parser;

  [[nodiscard]] std::string_view view(std::uint32_t begin, std::uint32_t end) const noexcept {
    return {headers_.base_ + begin, end - begin};
  }
  [[nodiscard]] std::uint32_t path_end() const noexcept {
    return facts_.query_begin == 0 ? facts_.target_end : facts_.query_begin;
  }

  detail::head_facts facts_;
  header_list headers_;
};

}  // namespace weft::http

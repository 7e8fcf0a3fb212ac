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

#include <cstdint>
#include <string_view>

#include <weft/http/message_head.hpp>

namespace weft::http {

class parsed_head : public detail::message_head {
 public:
  [[nodiscard]] http::method method() const noexcept { return facts_.method; }
  // As sent: "/a?b", "http://host/a?b", "host:443" or "*".
  [[nodiscard]] std::string_view target() const noexcept {
    return view(facts_.target_begin, facts_.target_end);
  }
  [[nodiscard]] target_form form() const noexcept { return facts_.form; }
  // Without the query, as sent; begins with "/". "*" and authorities have no path:
  // it is empty then.
  [[nodiscard]] std::string_view path() const noexcept {
    const std::string_view sent = view(facts_.path_begin, path_end());
    return sent.empty() && facts_.form == target_form::absolute ? std::string_view{"/"} : sent;
  }
  // After the "?", as sent; empty where there is none.
  [[nodiscard]] std::string_view query() const noexcept {
    return facts_.query_begin == 0 ? std::string_view{}
                                   : view(facts_.query_begin + 1, facts_.target_end);
  }
  // Whether path() holds a percent-encoding, a dot segment, or what should have been encoded, so
  // that normalize_path() must see it before a router.
  [[nodiscard]] bool path_needs_normalizing() const noexcept {
    return facts_.has(detail::path_needs_normalizing);
  }

  // Neither content_length() nor chunked(): there is no body.
  [[nodiscard]] bool has_body() const noexcept { return chunked() || facts_.content_length != 0; }
  // Whether the client wants the connection kept (RFC 9112 section 9.3).
  [[nodiscard]] bool keep_alive() const noexcept { return wants_keep_alive(); }
  // Whether it waits for "100 Continue" before it sends the body. Never in HTTP/1.0, never without
  // a body.
  [[nodiscard]] bool expect_continue() const noexcept {
    return facts_.has(detail::expects_continue) && has_body();
  }

  // Of HTTP/2: a body follows whose end frames tell, as chunks do.
  void note_unknown_length() noexcept { facts_.set(detail::has_transfer_encoding); }

 private:
  [[nodiscard]] std::uint32_t path_end() const noexcept {
    return facts_.query_begin == 0 ? facts_.target_end : facts_.query_begin;
  }
};

}  // namespace weft::http

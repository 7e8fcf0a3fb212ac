// The request as a handler sees it.
//
// Problem: a handler wants to read names, not offsets, and must not pay for what it doesn't read.
// Contract: a view of the parsed head, the route's parameters and the body; it owns nothing, and
// all it gives is valid until the reply has been given and the handler's task has ended. The server
// makes it; a handler takes it as `const http::request&`. One shard.
//
//   http.get("/orders/{id}", [](const http::request& r) {
//     return "order " + std::string{*r.parameter("id")};             // still percent-encoded
//   });
#pragma once

#include <optional>
#include <string_view>

#include <weft/http/parsed_head.hpp>
#include <weft/http/router.hpp>

namespace weft::net {
struct tls_info;
}

namespace weft::http {

class carrier;

class request {
 public:
  /// `path` is the head's, in normal form. The five outlive the request.
  request(const parsed_head& head, std::string_view path, const route_match& match,
          std::string_view body, carrier& client) noexcept
      : head_{head}, match_{match}, client_{client}, path_{path}, body_{body} {}
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  [[nodiscard]] http::method method() const noexcept { return head_.method(); }
  /// As the client sent it, with the query. It may hold bytes that no URI has: encode_target()
  /// before it goes anywhere else. http::client does that itself.
  [[nodiscard]] std::string_view target() const noexcept { return head_.target(); }
  /// In normal form, without the query; percent_decode() its segments (<weft/http/target.hpp>).
  [[nodiscard]] std::string_view path() const noexcept { return path_; }
  /// What follows the "?"; find_query_parameter() looks inside.
  [[nodiscard]] std::string_view query() const noexcept { return head_.query(); }
  /// 2 for HTTP/2, else 1.
  [[nodiscard]] unsigned major_version() const noexcept;
  /// 0 for HTTP/1.0, else 1: HTTP/2 is served as HTTP/1.1 is.
  [[nodiscard]] unsigned minor_version() const noexcept { return head_.minor_version(); }

  [[nodiscard]] const header_list& headers() const noexcept { return head_.headers(); }
  /// The first field of that name, in any case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept {
    return head_.headers().find(name);
  }
  /// What "{name}" or "{*name}" of the route stands for, percent-encoded.
  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const noexcept {
    return match_.parameter(name);
  }
  /// After chunked decoding; empty for a handler that takes it by a body_reader.
  [[nodiscard]] std::string_view body() const noexcept { return body_; }

  /// What was agreed on with the client, and who that is if it had to say so. nullptr: it speaks no
  /// TLS.
  [[nodiscard]] const net::tls_info* tls() const noexcept;
  /// How the client asked: "https" or "http", as trusted proxies say (server_options), else as it
  /// came here.
  [[nodiscard]] std::string_view scheme() const noexcept;

 private:
  friend class exchange;

  const parsed_head& head_;
  const route_match& match_;
  carrier& client_;
  std::string_view path_;
  std::string_view body_;
};

}  // namespace weft::http

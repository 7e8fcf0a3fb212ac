// A request that the client is to send, when a URL alone does not say it.
//
// Contract: a movable value that owns its texts. The fields that frame the message or are the
// connection's (Host, Content-Length, Transfer-Encoding, Connection, Expect, Upgrade, TE, Trailer,
// Keep-Alive, Proxy-Connection, Proxy-Authorization) are the client's, and those of the trace. Who
// gives an Accept-Encoding of his own is given what comes, undecoded. A name that is no token, or a
// value with a control character, is not sent: the request fails with errc::invalid_argument and
// says which it was. Single thread.
//
//   auto answer = co_await http.send(http::client_request{http::method::put, url}
//                                        .header("If-Match", tag)
//                                        .body("hello", http::text_plain));
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <weft/http/client/outgoing_request.hpp>
#include <weft/http/method.hpp>
#include <weft/http/response.hpp>
#include <weft/json/write.hpp>

namespace weft::http {

class client_request {
 public:
  client_request(http::method how, std::string url) noexcept : how_{how}, url_{std::move(url)} {}

  /// Adds a field; one of the same name stays beside it.
  template <class Self>
  Self&& header(this Self&& self, std::string_view name, std::string_view value) {
    self.add(name, value);
    return std::forward<Self>(self);
  }
  /// What is sent, of a type that a header may name.
  template <class Self>
  Self&& body(this Self&& self, std::string content) {
    self.set_body(std::move(content));
    return std::forward<Self>(self);
  }
  template <class Self>
  Self&& body(this Self&& self, std::string content, media_type type) {
    self.add("Content-Type", type.text());
    self.set_body(std::move(content));
    return std::forward<Self>(self);
  }
  /// An aggregate, as JSON.
  template <class Self, class T>
  Self&& json(this Self&& self, const T& value) {
    std::string content;
    weft::json::write(value, content);
    return std::forward<Self>(self).body(std::move(content), application_json);
  }

  /// As the client takes it; lives as long as this stays where it is, unchanged.
  [[nodiscard]] outgoing_request view() const noexcept;

 private:
  void add(std::string_view name, std::string_view value);
  void set_body(std::string content) noexcept {
    content_ = std::move(content);
    has_body_ = true;
  }

  http::method how_;
  bool has_body_ = false;
  bool says_codings_ = false;
  std::string url_;
  std::string fields_;
  std::string bad_name_;  // of a field that cannot be sent
  std::string content_;
};

}  // namespace weft::http

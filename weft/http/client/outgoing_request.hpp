// What a client is to send, as its parts take it: views of texts that somebody else keeps.
//
// Contract: internal to http; what it views outlives the request.
#pragma once

#include <string_view>

#include <weft/http/method.hpp>

namespace weft::http {

struct outgoing_request {
  http::method how = http::method::get;
  std::string_view url{};
  std::string_view fields{};  // each "Name: value" and CR LF
  std::string_view body{};
  bool has_body = false;         // even if that is empty
  std::string_view bad_field{};  // not empty: the name of one that must not be sent

  /// Whether to send it twice does what to send it once does (RFC 9110 section 9.2.2).
  [[nodiscard]] bool is_idempotent() const noexcept {
    return how != http::method::post && how != http::method::patch && how != http::method::connect;
  }
};

}  // namespace weft::http

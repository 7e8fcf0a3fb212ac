// What a client is to send, as its parts take it: views of texts that somebody else keeps.
//
// Contract: internal to http; what it views outlives the request.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/http/method.hpp>

namespace weft::http {

struct outgoing_request {
  http::method how = http::method::get;
  std::string_view url{};
  std::string_view fields{};  // each "Name: value" and CR LF
  std::string_view body{};
  bool has_body = false;                  // even if that is empty
  std::string_view bad_field{};           // not empty: the name of one that must not be sent
  bool says_codings = false;              // in `fields`; what comes is given as it comes
  bool is_streamed = false;               // `body` is none: it is written later, piece by piece
  std::optional<std::uint64_t> length{};  // of one that is streamed; none: it goes in chunks

  /// Whether to send it twice does what to send it once does (RFC 9110 section 9.2.2), and can be
  /// done.
  [[nodiscard]] bool is_repeatable() const noexcept {
    return !is_streamed && how != http::method::post && how != http::method::patch &&
           how != http::method::connect;
  }
};

}  // namespace weft::http

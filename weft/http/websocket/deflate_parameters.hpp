// What two ends agree on for permessage-deflate (RFC 7692 section 7.1).
//
// Contract: internal to http. accept_deflate() is the server's part: the first offer of a
// Sec-WebSocket-Extensions field that it can keep to, or none; an offer with a parameter that is
// unknown, given twice or has a value that it must not have is passed over, and so are other
// extensions. offer_deflate() and read_deflate_answer() are the client's: an answer that was not
// offered fails the connection. Windows of 8 bits are declined, since zlib makes none.
//
//   if (auto agreed = accept_deflate(offered, {.context_takeover = false}))
//     fields += agreed->text();
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace weft::http::ws {

struct deflate_parameters {
  static constexpr std::uint8_t most_window_bits = 15;
  static constexpr std::uint8_t least_window_bits = 9;

  bool server_no_context_takeover = false;
  bool client_no_context_takeover = false;
  std::uint8_t server_max_window_bits = most_window_bits;
  std::uint8_t client_max_window_bits = most_window_bits;
  /// Whether the client has asked for a window of the server's, which must be answered then, be it
  /// the largest (RFC 7692 section 7.1.2.1).
  bool names_server_window = false;

  /// How one end's messages are compressed.
  struct direction {
    int window_bits;
    bool keeps_context;
  };
  [[nodiscard]] direction of_server() const noexcept {
    return {server_max_window_bits, !server_no_context_takeover};
  }
  [[nodiscard]] direction of_client() const noexcept {
    return {client_max_window_bits, !client_no_context_takeover};
  }

  /// As a server answers, or as a client that offers no more says it.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const deflate_parameters&, const deflate_parameters&) = default;
};

/// What an end would have.
struct deflate_wishes {
  /// Whether messages may refer to those before them: shorter, for some 300 KiB a connection.
  bool context_takeover = false;
};

[[nodiscard]] std::optional<deflate_parameters> accept_deflate(std::string_view offers,
                                                               const deflate_wishes& own);
[[nodiscard]] std::string_view offer_deflate(const deflate_wishes& own) noexcept;
/// `answer`: not empty. The error is a sentence, in static storage.
[[nodiscard]] std::expected<deflate_parameters, std::string_view> read_deflate_answer(
    std::string_view answer, const deflate_wishes& offered);

}  // namespace weft::http::ws

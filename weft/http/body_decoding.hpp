// The codings of one request's body, taken off piece by piece.
//
// Contract: private to weft/http's sources. At most two codings, which the client has applied in
// this order. next() takes what it can of `input` and gives a piece of at most 4 KiB, a view until
// the next call; an empty one means that all of `input` was taken and more is needed, or that
// nothing more comes: is_finished(). `failed` stays. Allocates when it is made.
//
//   auto plain = body_decoding::make(codings, {.bytes = 1 << 20});
//   while (!(piece = plain->next(coded)).empty()) ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/http/content_decoder.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {

inline constexpr std::size_t codings_of_body_most = 2;

/// What the client is told of a body that cannot be decoded.
inline constexpr std::string_view decoded_too_large =
    "the body is longer, decoded, than this path takes";
inline constexpr std::string_view decoded_wrong =
    "the body is not what its Content-Encoding says, or is cut off";

/// As Content-Encoding lists them, without identity.
struct body_codings {
  std::array<content_coding, codings_of_body_most> applied;
  std::size_t count = 0;
};
/// errc::unsupported: one that is not `known`, or more than `most`.
[[nodiscard]] result<body_codings> read_body_codings(const header_list& headers, coding_set known,
                                                     std::size_t most) noexcept;

/// Of memory that their decoders touch at most, for a body that may become so long. Their windows
/// may be larger; what is not decoded is not in them.
[[nodiscard]] std::size_t decoder_bytes(const body_codings& codings,
                                        std::uint64_t decoded_bytes) noexcept;

class body_decoding {
 public:
  /// errc::exhausted: no memory.
  [[nodiscard]] static result<body_decoding> make(const body_codings& codings,
                                                  const decoding_limits& bounds);

  /// Takes off the front of `input`.
  [[nodiscard]] std::string_view next(std::string_view& input) noexcept;

  [[nodiscard]] bool is_finished() const noexcept;
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }
  /// Why it has: 413, else 400.
  [[nodiscard]] bool is_too_large() const noexcept;

 private:
  static constexpr std::size_t piece_bytes = 4096;

  body_decoding() = default;
  [[nodiscard]] std::string_view step(content_decoder& by, std::string_view& input,
                                      std::span<char> room) noexcept;

  std::optional<content_decoder> first_;   // of the coding that was applied last
  std::optional<content_decoder> second_;  // and before that
  std::string_view between_;               // of middle_: not yet taken by the second
  std::unique_ptr<char[]> room_;           // NOLINT(modernize-avoid-c-arrays): never copied
  std::unique_ptr<char[]> middle_;         // NOLINT(modernize-avoid-c-arrays)
  bool has_failed_ = false;
};

}  // namespace weft::http

// The content codings we know (RFC 9110 section 8.4.1, RFC 7932, RFC 8878), by name and as a set.
//
//   parse_content_coding("br");                                     // content_coding::br
//   constexpr coding_set ours{content_coding::gzip, content_coding::br};
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace weft::http {

enum class content_coding : std::uint8_t { identity, gzip, deflate, br, zstd };

inline constexpr std::size_t content_coding_count = 5;

// As in Content-Encoding: "gzip". Static storage.
[[nodiscard]] std::string_view to_string(content_coding which) noexcept;
// In any case; "x-gzip" is gzip (RFC 9110 section 8.4.1.3).
[[nodiscard]] std::optional<content_coding> parse_content_coding(std::string_view name) noexcept;

class coding_set {
 public:
  constexpr coding_set() noexcept = default;
  constexpr coding_set(std::initializer_list<content_coding> all) noexcept {
    for (content_coding each : all) insert(each);
  }
  constexpr void insert(content_coding which) noexcept {
    bits_ = static_cast<std::uint8_t>(bits_ | 1u << static_cast<unsigned>(which));
  }
  [[nodiscard]] constexpr bool contains(content_coding which) const noexcept {
    return (bits_ >> static_cast<unsigned>(which) & 1u) != 0;
  }

 private:
  std::uint8_t bits_ = 0;
};

}  // namespace weft::http

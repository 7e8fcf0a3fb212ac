// Request methods.
//
// Contract: the methods of RFC 9110 section 9.3 and PATCH (RFC 5789), as a small number that
// indexes tables. Names are case-sensitive (RFC 9110 section 9.1): "get" is not a method we know. A
// method_set is a bit per method.
//
//   weft::http::method_set allowed;
//   allowed.insert(method::get);
//   std::array<char, method_set::text_capacity> room;
//   std::string_view value = allowed.text(room);              // "GET"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::http {

enum class method : std::uint8_t { get, head, post, put, delete_, connect, options, trace, patch };

inline constexpr std::size_t method_count = 9;

// "GET", "HEAD", ...
[[nodiscard]] std::string_view to_string(method which) noexcept;

// None where `name` is not exactly one of the names above; whether it is a token is the parser's
// business.
[[nodiscard]] std::optional<method> parse_method(std::string_view name) noexcept;

class method_set {
 public:
  // Enough for the names of all methods, separated by ", ".
  static constexpr std::size_t text_capacity = 64;

  constexpr void insert(method which) noexcept {
    bits_ = static_cast<std::uint16_t>(bits_ | 1u << static_cast<unsigned>(which));
  }
  constexpr void insert(method_set others) noexcept {
    bits_ = static_cast<std::uint16_t>(bits_ | others.bits_);
  }
  [[nodiscard]] constexpr bool contains(method which) const noexcept {
    return (bits_ >> static_cast<unsigned>(which) & 1u) != 0;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

  // The value of an Allow header (RFC 9110 section 10.2.1): a view into `room`.
  [[nodiscard]] std::string_view text(std::array<char, text_capacity>& room) const noexcept;

  friend constexpr bool operator==(method_set, method_set) noexcept = default;

 private:
  std::uint16_t bits_ = 0;
};

}  // namespace weft::http

// A line of a log as its writer leaves it: what is to be formatted, and not yet the text. Internal
// to deferred_log.
//
// Contract: a record is 256 bytes and holds everything by value: strings up to short_text's bound,
// other values as they are. What a value points to must be there when the line is formatted.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <format>
#include <mutex>  // declares the clocks: see time.hpp
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>

namespace weft::realtime {

/// The beginning of a string; what is longer ends in "...", after a whole character of UTF-8.
class short_text {
 public:
  static constexpr std::size_t bytes_max = 47;

  explicit short_text(std::string_view text) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, bytes_max> text_{};
  std::uint8_t size_ = 0;
};

template <class T>
concept textual = std::convertible_to<const T&, std::string_view>;

template <class T>
using stored_as = std::conditional_t<textual<T>, short_text, T>;
/// What the format is checked against.
template <class T>
using shown_as = std::conditional_t<textual<T>, std::string_view, T>;

template <class T>
T shown(const T& value) noexcept {
  return value;
}
inline std::string_view shown(const short_text& text) noexcept { return text.view(); }

class deferred_line {
 public:
  static constexpr std::size_t room_bytes = 208;

  /// What the line is, and how many were lost before it.
  std::chrono::system_clock::time_point written_at;
  std::uint64_t lost_before = 0;
  log::level at{};

  /// `text` is there for ever.
  template <class... Values>
  void put(std::string_view text, const Values&... values) noexcept {
    using stored = std::tuple<stored_as<Values>...>;
    static_assert((std::is_trivially_copyable_v<stored_as<Values>> && ...),
                  "a value of a line is copied byte by byte: give a number, a text or a plain "
                  "struct, whose copy constructor is trivial");
    static_assert(sizeof(stored) <= room_bytes && alignof(stored) <= alignof(std::uint64_t),
                  "the values of a line take more than a record has: write two lines");
    text_ = text;
    format_ = &format_as<stored>;
    ::new (static_cast<void*>(room_.data())) stored{stored_as<Values>{values}...};
  }

  /// Throws what formatters throw. After put().
  [[nodiscard]] std::string format() const { return format_(*this); }

 private:
  template <class Stored>
  static std::string format_as(const deferred_line& line) {
    const auto& values = *std::launder(reinterpret_cast<const Stored*>(line.room_.data()));
    const auto format_all = [&line](const auto&... each) {
      return weft::vformat(line.text_, std::make_format_args(each...));
    };
    return std::apply([&](const auto&... each) { return format_all(shown(each)...); }, values);
  }

  std::string (*format_)(const deferred_line&) = nullptr;
  std::string_view text_;
  alignas(std::uint64_t) std::array<std::byte, room_bytes> room_{};
};

static_assert(sizeof(deferred_line) == 256);

}  // namespace weft::realtime

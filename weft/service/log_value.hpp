// A value in a line of the log, before anybody knows whether the line is wanted. Internal to
// logger.
//
// Contract: refers to the value, which outlives it; nothing is formatted or copied. Numbers, text,
// times (std::chrono::duration) and pointers are taken, and what says itself what it is, by
// to_string(), in the class or beside it, or by message().
//
//   log_value{stream.error()}.append_to(line, "");
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <weft/base/time.hpp>

namespace weft::detail {

template <class T>
concept says_what_it_is = requires(const T& value) {
  { value.to_string() } -> std::convertible_to<std::string_view>;
};
template <class T>
concept is_said_what_it_is = requires(const T& value) {
  { to_string(value) } -> std::convertible_to<std::string_view>;
};
template <class T>
concept has_message = requires(const T& value) {
  { value.message() } -> std::convertible_to<std::string_view>;
};

template <class T>
inline constexpr bool is_time = false;
template <class Rep, class Period>
inline constexpr bool is_time<std::chrono::duration<Rep, Period>> = true;

class log_value {
 public:
  template <class T>
  explicit log_value(const T& value) noexcept {
    if constexpr (std::is_same_v<T, bool>) {
      set(kind::boolean, value ? 1 : 0);
    } else if constexpr (std::is_same_v<T, char>) {
      text_ = {&value, 1};
    } else if constexpr (std::is_integral_v<T>) {
      set(std::is_signed_v<T> ? kind::integer : kind::unsigned_integer,
          static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      kind_ = kind::real;
      real_ = static_cast<double>(value);
    } else if constexpr (is_time<T>) {
      const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(value).count();
      set(kind::time, static_cast<std::uint64_t>(ns));
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      text_ = std::string_view{value};
    } else if constexpr (says_what_it_is<T>) {
      set(value, [](const void* of, std::string& out) {
        out += std::string_view{static_cast<const T*>(of)->to_string()};
      });
    } else if constexpr (is_said_what_it_is<T>) {
      set(value, [](const void* of, std::string& out) {
        out += std::string_view{to_string(*static_cast<const T*>(of))};
      });
    } else if constexpr (has_message<T>) {
      set(value, [](const void* of, std::string& out) {
        out += std::string_view{static_cast<const T*>(of)->message()};
      });
    } else {
      static_assert(std::is_pointer_v<T>,
                    "a value in a log line is a number, text, a time, or has to_string(): give its "
                    "type one, or format it before");
      kind_ = kind::pointer;
      object_ = value;
    }
  }

  /// `spec` is what stands behind the colon of "{:>8}", by the rules of std::format. One that is
  /// not for this value is left out. May throw std::bad_alloc and what to_string() throws.
  void append_to(std::string& out, std::string_view spec) const;

 private:
  enum class kind : std::uint8_t {
    boolean,
    integer,
    unsigned_integer,
    real,
    time,
    text,
    pointer,
    writer,
  };
  using writer = void (*)(const void* of, std::string& out);

  void set(kind what, std::uint64_t bits) noexcept {
    kind_ = what;
    bits_ = bits;
  }
  template <class T>
  void set(const T& value, writer write) noexcept {
    kind_ = kind::writer;
    object_ = &value;
    write_ = write;
  }
  void append_formatted(std::string& out, std::string_view format) const;

  kind kind_ = kind::text;
  std::uint64_t bits_ = 0;
  double real_ = 0;
  std::string_view text_;
  const void* object_ = nullptr;
  writer write_ = nullptr;
};

// Not constexpr: to reach one of them while compiling is the error message.
inline void a_log_line_has_one_value_for_each_pair_of_braces() noexcept {}
inline void a_brace_in_a_log_line_with_values_is_doubled_or_a_field_as_in_format() noexcept {}

/// The text of a line with values, as std::format has it: {}, {:spec}, and {{ and }} for braces.
/// Fields are numbered by nobody, and take no width from a value.
template <class... Values>
class log_text {
 public:
  template <std::size_t Size>
  consteval log_text(const char (&text)[Size]) : text_{text, Size - 1} {  // NOLINT: to be implicit
    if (fields(text_) != sizeof...(Values)) a_log_line_has_one_value_for_each_pair_of_braces();
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

 private:
  static consteval std::size_t fields(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '{' && text[i] != '}') continue;
      if (i + 1 < text.size() && text[i + 1] == text[i]) {
        ++i;
        continue;
      }
      const std::size_t end = text.find_first_of("{}", i + 1);
      const bool is_field = text[i] == '{' && end != text.npos && text[end] == '}' &&
                            (end == i + 1 || text[i + 1] == ':');
      if (!is_field) a_brace_in_a_log_line_with_values_is_doubled_or_a_field_as_in_format();
      ++count;
      i = end;
    }
    return count;
  }

  std::string_view text_;
};

}  // namespace weft::detail

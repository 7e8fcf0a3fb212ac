// The names of an enum's enumerators, found while compiling.
//
// Contract: enumerators_of<T> are those whose values are in enum_range<T>, in the order of their
// values. By default that is every value of a type of one byte, and -128 to 639 of a larger one;
// `enum_range` is specialised for an enum that goes further, and for an enum that is a number and
// has no names to speak of. is_covered<T>: there is at least one name, and none was found outside
// of the default range. C++23 cannot list all enumerators, so the values outside that programs use
// are sampled (the limits, powers of two, round decimals). A name that ends with '_' stands there
// without it, so that `auto_` is called auto. If two enumerators have one value, the compiler picks
// the name, usually the first.
//
//   enum class side : std::uint8_t { buy, sell };
//   static_assert(detail::enumerators_of<side>[1].text == "sell");
//
//   enum class port : std::uint16_t { http = 80, alternate = 8080 };
//   template <>
//   inline constexpr weft::enumerator_range weft::enum_range<port>{80, 8080};
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weft {

/// From the least to the most value that an enumerator may have, both included.
struct enumerator_range {
  std::int64_t least = -128;
  std::int64_t most = 639;
  bool is_default = false;

  friend constexpr bool operator==(const enumerator_range&, const enumerator_range&) = default;
};

/// The range of an enum that is a number: an identifier, or a set of bits.
inline constexpr enumerator_range enum_is_number{0, -1};

/// Where the enumerators of T are looked for. At most 16384 values.
template <class T>
inline constexpr enumerator_range enum_range{.is_default = true};
template <>
inline constexpr enumerator_range enum_range<std::byte> = enum_is_number;

}  // namespace weft

namespace weft::detail {

struct enumerator {
  std::string_view text;
  std::int64_t value;
};

template <class T>
concept number_enum = std::is_enum_v<T> && enum_range<std::remove_cv_t<T>> == enum_is_number;

template <class Type>
consteval std::string_view signature_with_type() {
  return __PRETTY_FUNCTION__;
}
template <auto... Values>
consteval std::string_view signature_with_values() {
  return __PRETTY_FUNCTION__;
}

/// As the compiler writes it.
template <class T>
consteval std::string_view enum_type_text() {
  constexpr std::string_view whole = signature_with_type<T>();
  constexpr std::size_t start = whole.find("Type = ") + sizeof("Type = ") - 1;
  return whole.substr(start, whole.find_first_of(";]", start) - start);
}

/// Takes one value off a list: an enumerator, as in `ns::colour::red, `; its own name; of a number,
/// none.
consteval std::string_view take_enumerator(std::string_view& list) {
  std::size_t name = 0;
  std::size_t end = 0;
  for (int depth = 0; end < list.size(); ++end) {
    const char c = list[end];
    if (depth == 0 && (c == ',' || c == '>' || c == '}')) break;
    if (c == '(' || c == '<') ++depth;
    if (c == ')' || c == '>') --depth;
    if (c == ':' || c == ')') name = end + 1;
  }
  std::string_view text = list.substr(name, end - name);
  list.remove_prefix(std::min(end + 2, list.size()));
  if (text.empty() || text.front() == '-' || text.front() <= '9') return {};  // a number
  if (text.ends_with('_')) text.remove_suffix(1);  // `auto_` is called auto
  return text;
}

/// The names of so many values of T, empty where there is none: compilers write `(ns::colour)7`.
template <class T, std::size_t Count>
consteval std::array<std::string_view, Count> names_in(std::string_view signature) {
  constexpr std::string_view type = enum_type_text<T>();
  std::array<std::string_view, Count> names;
  // Clang: "[Values = <a, b>]"; GCC: "[with auto ...Values = {a, b}; ...]".
  std::string_view rest = signature.substr(signature.find("Values = ") + sizeof("Values = "));
  for (std::string_view& each : names) {
    if (rest.starts_with('(') && rest.substr(1).starts_with(type) && rest[type.size() + 1] == ')') {
      rest.remove_prefix(type.size() + 2);  // looks at few bytes: there are thousands of these
      rest.remove_prefix(std::min(rest.find(','), rest.size() - 2) + 2);
    } else {
      each = take_enumerator(rest);
    }
  }
  return names;
}

/// The underlying type has the value; others would wrap.
template <class T>
constexpr bool can_be(std::int64_t value) {
  using underlying = std::underlying_type_t<T>;
  return static_cast<std::int64_t>(static_cast<underlying>(value)) == value;
}

/// The enumerators among Values::at(0) to Values::at(Count - 1), in this order. Few at a time: a
/// longer signature is too much for one constant expression.
template <class T, class Values, std::size_t Count>
  requires(Count <= 64)
inline constexpr auto enumerators_among = [] {
// An enum without a fixed type lacks some values; compilers warn where one becomes a constant.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wenum-constexpr-conversion"
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#endif
  static constexpr auto names = []<std::size_t... I>(std::index_sequence<I...>) {
    return names_in<T, Count>(signature_with_values<static_cast<T>(Values::at(I))...>());
  }(std::make_index_sequence<Count>{});
#if defined(__clang__)
#pragma clang diagnostic pop
#else
#pragma GCC diagnostic pop
#endif
  constexpr auto is_named = [&](std::size_t i) {
    return !names[i].empty() && can_be<T>(Values::at(i));
  };
  constexpr std::size_t count = [&] {
    std::size_t named = 0;
    for (std::size_t i = 0; i < Count; ++i) named += is_named(i) ? 1U : 0U;
    return named;
  }();
  std::array<enumerator, count> found{};
  std::size_t next = 0;
  for (std::size_t i = 0; next < count; ++i)
    if (is_named(i)) found[next++] = {names[i], Values::at(i)};
  return found;
}();

template <std::size_t... Sizes>
consteval auto joined(const std::array<enumerator, Sizes>&... parts) {
  std::array<enumerator, (std::size_t{0} + ... + Sizes)> all{};
  auto place = all.begin();
  ((place = std::copy(parts.begin(), parts.end(), place)), ...);
  return all;
}

/// Values that follow each other.
template <std::int64_t First>
struct consecutive_values {
  static constexpr std::int64_t at(std::size_t i) { return First + static_cast<std::int64_t>(i); }
};

/// What of enum_range<T> the underlying type can have.
template <class T>
consteval enumerator_range values_of() {
  using limits = std::numeric_limits<std::underlying_type_t<T>>;
  enumerator_range range = enum_range<T>;
  if (range.is_default && sizeof(T) == 1) range = {-128, 255};
  range.least = std::max(range.least, static_cast<std::int64_t>(limits::min()));
  if (sizeof(T) < sizeof(std::int64_t))
    range.most = std::min(range.most, static_cast<std::int64_t>(limits::max()));
  return range;
}

/// A look into T: the enumerators of one in a class template are made when somebody asks for one.
template <class T>
concept is_instantiated = !requires { T::weft_no_enumerator; };

template <class T>
  requires is_instantiated<T>
inline constexpr auto enumerators_of = [] {
  static constexpr enumerator_range range = values_of<T>();
  static_assert(range.most - range.least < 16384, "weft::enum_range has 16384 values at most");
  static constexpr std::int64_t step = 64;
  return []<std::int64_t... I>(std::integer_sequence<std::int64_t, I...>) {
    return joined(enumerators_among<T, consecutive_values<range.least + I * step>,
                                    std::min(std::int64_t{step},
                                             range.most + 1 - range.least - I * step)>...);
  }(std::make_integer_sequence<std::int64_t, (range.most - range.least + step) / step>{});
}();

/// Outside of the default range, values that programs give to enumerators: powers of two, those
/// less one, negative powers, each with the limit of 64 bits, and round decimals.
template <std::size_t Kind>
struct outlying_values {
  static constexpr std::size_t count = 53;
  static constexpr std::int64_t at(std::size_t i) {
    using limits = std::numeric_limits<std::int64_t>;
    const std::int64_t power = std::int64_t{1} << (i + 10);
    const bool is_last = i + 1 == count;
    if (Kind == 0) return power;
    if (Kind == 1) return is_last ? limits::max() : power - 1;
    if (Kind == 2) return is_last ? limits::min() : -power / 4;
    std::int64_t decimal = static_cast<std::int64_t>(i % 9 + 1);
    for (std::size_t zeros = i / 9 + 2; zeros != 0; --zeros) decimal *= 10;
    return decimal > enumerator_range{}.most ? decimal : decimal + 1000;
  }
};

/// Whether enum_range<T> has the enumerators of T, as far as can be seen.
template <class T>
consteval bool is_covered() {
  if constexpr (enumerators_of<T>.empty())
    return false;
  else if constexpr (!enum_range<T>.is_default || sizeof(T) == 1)
    return true;
  else
    return []<std::size_t... Kind>(std::index_sequence<Kind...>) {
      return (enumerators_among<T, outlying_values<Kind>, outlying_values<Kind>::count>.empty() &&
              ...);
    }(std::make_index_sequence<4>{});
}

}  // namespace weft::detail

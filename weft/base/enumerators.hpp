// The names of an enum's enumerators, found while compiling.
//
// Contract: enumerators_of<T> are those whose values are from 0 to 63, in the order of their
// values; an enum whose enumerators all have other values has none. A name that ends with '_'
// stands there without it, so that `auto_` is called auto.
//
//   enum class side : std::uint8_t { buy, sell };
//   static_assert(detail::enumerators_of<side>[1].text == "sell");
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weft::detail {

struct enumerator {
  std::string_view text;
  std::int64_t value;
};

template <auto Value>
consteval std::string_view signature_with_value() {
  return __PRETTY_FUNCTION__;
}

/// The name of an enumerator, empty where there is none: compilers write `ns::colour::red` in the
/// one case and `(ns::colour)7` in the other.
template <auto Value>
consteval std::string_view enumerator_name() {
  constexpr std::string_view whole = signature_with_value<Value>();
  constexpr std::size_t start = whole.find("Value = ") + sizeof("Value = ") - 1;
  std::string_view text = whole.substr(start, whole.find_first_of(";]", start) - start);
  text.remove_prefix(text.find_last_of(":)") + 1);
  const bool is_number = text.empty() || text.front() == '-' || text.front() <= '9';
  if (is_number) return {};
  if (text.ends_with('_')) text.remove_suffix(1);  // `auto_` is called auto
  return text;
}

/// Of the enumerator with that value; empty: there is none, or the type cannot have the value.
template <class T, std::size_t Number>
consteval std::string_view name_of_number() {
  using underlying = std::underlying_type_t<T>;
  if constexpr (static_cast<std::size_t>(static_cast<underlying>(Number)) != Number)
    return {};
  else
    return enumerator_name<static_cast<T>(Number)>();
}

/// Enumerators are looked for among the values below this one.
inline constexpr std::size_t enumerators_max = 64;

template <class T>
inline constexpr auto enumerators_of = [] {
  constexpr auto found = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<enumerator, sizeof...(I)>{
        enumerator{name_of_number<T, I>(), static_cast<std::int64_t>(I)}...};
  }(std::make_index_sequence<enumerators_max>{});
  constexpr std::size_t count = [](const auto& names) {
    std::size_t named = 0;
    for (const enumerator& each : names) named += each.text.empty() ? 0U : 1U;
    return named;
  }(found);
  std::array<enumerator, count> names{};
  std::size_t next = 0;
  for (const enumerator& each : found)
    if (!each.text.empty()) names[next++] = each;
  return names;
}();

}  // namespace weft::detail

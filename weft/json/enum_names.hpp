// Which enums stand in JSON by the names of their enumerators.
//
// Contract: inside of weft/json. A named_enum has a fixed underlying type and enumerators from 0 to
// 63 (weft/base/enumerators.hpp), and glz::meta does not describe it. Other enums are numbers, as
// glaze has them. A light part: readers and writers of JSON are not among it.
#pragma once

#include <weft/base/enumerators.hpp>

#include <glaze/forward.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace weft::json::detail {

/// An enum whose values are those of its underlying type: `T{0}` is allowed for no other.
template <class T>
concept fixed_enum =
    std::is_enum_v<T> && sizeof(T) <= 8 && requires { T{std::underlying_type_t<T>{}}; };
template <class T>
concept enum_with_names = fixed_enum<T> && !weft::detail::enumerators_of<T>.empty();

/// As the glz::meta below says, and that of a user does not.
template <class T>
concept named_enum = requires { requires glz::meta<T>::weft_names; };

template <class T>
constexpr std::string_view name_of(T value) noexcept {
  for (const weft::detail::enumerator& each : weft::detail::enumerators_of<T>)
    if (each.value == static_cast<std::int64_t>(value)) return each.text;
  return {};
}

template <class T>
bool find_enumerator(std::string_view name, T& into) noexcept {
  for (const weft::detail::enumerator& each : weft::detail::enumerators_of<T>) {
    if (each.text != name) continue;
    into = static_cast<T>(each.value);
    return true;
  }
  return false;
}

}  // namespace weft::json::detail

template <weft::json::detail::enum_with_names T>
struct glz::meta<T> {
  static constexpr bool weft_names = true;
  static constexpr bool custom_read = true;
  static constexpr bool custom_write = true;
};

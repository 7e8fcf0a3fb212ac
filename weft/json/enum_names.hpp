// Which enums stand in JSON by the names of their enumerators.
//
// Contract: inside of weft/json. A named_enum is any enum that glz::meta does not describe and that
// weft::enum_range does not call a number (weft/base/enumerators.hpp). Reading, writing or
// describing one whose names are not all known does not compile (all_names_known). A light part:
// readers and writers of JSON are not among it.
#pragma once

#include <weft/base/enumerators.hpp>

#include <glaze/forward.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace weft::json::detail {

template <class T>
concept enum_with_names = std::is_enum_v<T> && !weft::detail::number_enum<T>;

/// Refuses an enum of which only a part could be read.
template <class T>
consteval bool all_names_known() {
  static_assert(weft::detail::is_covered<T>(),
                "an enum in JSON is the name of its enumerator, and this one has none, or some "
                "outside of weft::enum_range. Specialise it (weft/base/enumerators.hpp): "
                "template <> inline constexpr weft::enumerator_range weft::enum_range<T>"
                "{least, most}; or = weft::enum_is_number; for an enum that is a number");
  return true;
}

/// As the glz::meta below says, and that of a user does not.
template <class T>
concept named_enum = requires { requires glz::meta<T>::weft_names; };

/// What may be the name of a member: glaze has names for none of these.
template <class T>
concept key_enum = named_enum<T> || weft::detail::number_enum<T>;

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

template <class T>
bool find_enumerator(std::int64_t number, T& into) noexcept {
  for (const weft::detail::enumerator& each : weft::detail::enumerators_of<T>) {
    if (each.value != number) continue;
    into = static_cast<T>(number);
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

// glaze's reflection, and questions about a type that are answered while compiling. Inside of
// weft/json; comes before any other header of glaze.
#pragma once

#include <weft/json/members.hpp>

#include <glaze/core/reflect.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weft::json::detail {

// Whether a std::string_view is anywhere inside of T. `Outer` are the types that are being looked
// into, since a tree holds itself.
template <class T, class... Outer>
consteval bool holds_view() {
  using value = std::remove_cvref_t<T>;
  // A type seen before holds none, and so does one without parts. NOLINTNEXTLINE(*-branch-clone)
  if constexpr ((std::same_as<value, Outer> || ...)) {
    return false;
  } else if constexpr (std::same_as<value, std::string_view>) {
    return true;
  } else if constexpr (glz::reflectable<value>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (holds_view<glz::refl_t<value, I>, value, Outer...>() || ...);
    }(std::make_index_sequence<glz::reflect<value>::size>{});
  } else if constexpr (requires { typename value::mapped_type; }) {
    return holds_view<typename value::key_type, value, Outer...>() ||
           holds_view<typename value::mapped_type, value, Outer...>();
  } else if constexpr (requires { typename value::value_type; }) {
    return holds_view<typename value::value_type, value, Outer...>();
  } else {
    return false;
  }
}

}  // namespace weft::json::detail

// A type's name as people write it: the key of its services, and what messages call it.
//
// Contract: a constant per type, read from the compiler's own name for this function; equal for
// equal types and different for different ones within one program built by one compiler.
//
//   type_name<http::server>    // "weft::http::server"
#pragma once

#include <string_view>

/// Nothing else is in it: GCC leaves out of a type's name the namespace that the function is in.
namespace weft_type_name {

template <class T>
consteval std::string_view signature() {
  return __PRETTY_FUNCTION__;
}

}  // namespace weft_type_name

namespace weft {

namespace detail {

template <class T>
consteval std::string_view name_of_type() {
  // Whatever surrounds `int` in the compiler's text surrounds every other type as well.
  constexpr std::string_view sample = weft_type_name::signature<int>();
  constexpr std::size_t before = sample.rfind("int");
  constexpr std::size_t after = sample.size() - before - 3;
  constexpr std::string_view whole = weft_type_name::signature<T>();
  return whole.substr(before, whole.size() - before - after);
}

}  // namespace detail

template <class T>
inline constexpr std::string_view type_name = detail::name_of_type<T>();

}  // namespace weft

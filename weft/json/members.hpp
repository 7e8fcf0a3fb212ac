// The names and the members of plain structs, by glaze. Inside of weft; comes before any other
// header of glaze.
//
// Contract: for an aggregate T, glz::member_names<T> are its members' names, glz::to_tie(value) is
// a tuple of references to them, which glz::get<I>() takes apart. A light part of glaze: readers
// and writers of JSON are not among it.
//
//   static_assert(glz::member_names<ping>[0] == "sequence");
#pragma once

#include <glaze/reflection/get_name.hpp>

#include <string_view>

namespace weft::json::detail {

template <class T>
consteval bool is_in_unnamed_namespace() {
  const std::string_view name = __PRETTY_FUNCTION__;
  return name.contains("(anonymous namespace)") || name.contains("{anonymous}");
}

}  // namespace weft::json::detail

#if !GLZ_REFLECTION26
// glaze asks the compiler for the names of an object's members by the addresses they have in a
// variable that it declares and nobody defines. Types in an unnamed namespace have no linkage, so
// no other file could define it, and compilers refuse; a definition here makes them content. It is
// read by nobody, and mostly not even emitted. (For a type inside of a function there is no
// telling; those do not compile.)
namespace glz::detail {

template <class T>
  requires(weft::json::detail::is_in_unnamed_namespace<T>())
const T external<T>{};

}  // namespace glz::detail
#endif

// What a handler takes from the path and the query: plain structs, read and checked before it.
//
// Problem: every handler that reads its parameters from text forgets an escape, a range or a
// missing one. Contract: a handler takes http::path<T>, whose members are called as the parameters
// of its route, or http::query<T>, or both. T is an aggregate of whole numbers, floating point,
// bool, std::string and enums, which are sent by their enumerators' names; members of a query may
// be std::optional, which may be missing, or std::vector, which may come any number of times.
// `bounds()` of T, as options have them (weft/base/bounds.hpp), hold. A value that does not fit, an
// unknown name in the query, and one given twice are answered with 400, and never reach the
// handler. Texts are decoded, and UTF-8. Reading allocates what T's members do.
//
//   struct order_key { std::int64_t id; };
//   struct order_page {
//     std::optional<std::uint32_t> limit;
//     static constexpr auto bounds() {
//       return weft::bounds(weft::within<&order_page::limit>(1, 100));
//     }
//   };
//   http.get("/orders/{id}", [](http::path<order_key> at) { return find(at->id); });
//   http.get("/orders", [](http::query<order_page> q) { return some(q->limit.value_or(20)); });
#pragma once

#include <span>
#include <string_view>
#include <type_traits>

#include <weft/json/shape.hpp>
#include <weft/service/config_type.hpp>

namespace weft::http {

class exchange;

template <class T>
struct path {
  T value{};

  T* operator->() noexcept { return &value; }
  const T* operator->() const noexcept { return &value; }
  T& operator*() noexcept { return value; }
  const T& operator*() const noexcept { return value; }
};

template <class T>
struct query {
  T value{};

  T* operator->() noexcept { return &value; }
  const T* operator->() const noexcept { return &value; }
  T& operator*() noexcept { return value; }
  const T& operator*() const noexcept { return value; }
};

/// The parameters that a handler takes from one place, as data.
struct parameter_set {
  const weft::detail::option_type* type = nullptr;  // nullptr: none
  void* (*sample)() noexcept = nullptr;             // an object of it, for its bounds to look at
  std::span<const json::description> descriptions{};
};

namespace detail {

constexpr bool is_scalar_parameter(const weft::detail::option_type* type) noexcept {
  using enum weft::detail::option_kind;
  return type != nullptr && type->kind != duration && type->kind != optional &&
         type->kind != list && type->kind != table;
}
constexpr bool is_query_parameter(const weft::detail::option_type* type) noexcept {
  using enum weft::detail::option_kind;
  const bool holds_some = type != nullptr && (type->kind == optional || type->kind == list);
  return is_scalar_parameter(holds_some ? type->element : type);
}

/// How many a query has at most: those that were given are noted in the bits of a word.
inline constexpr std::size_t query_parameters_max = 64;

template <class T>
consteval bool fits_path() {
  for (const weft::detail::option_field& each : weft::detail::option_fields_of<T>)
    if (!is_scalar_parameter(each.type)) return false;
  return true;
}
template <class T>
consteval bool fits_query() {
  for (const weft::detail::option_field& each : weft::detail::option_fields_of<T>)
    if (!is_query_parameter(each.type)) return false;
  return weft::detail::option_fields_of<T>.size() <= query_parameters_max;
}

template <class T>
consteval parameter_set describe_parameters() {
  parameter_set made{.type = &weft::detail::option_type_of<T>, .sample = []() noexcept {
                       static T object{};
                       return static_cast<void*>(&object);
                     }};
  if constexpr (json::detail::has_descriptions<T>) {
    static_assert(json::detail::describes_only_members<T>(),
                  "`descriptions` of a type name its members, or \"\" for the type itself");
    made.descriptions = T::descriptions;
  }
  return made;
}

template <class T>
inline constexpr parameter_set parameters_of{};
template <class T>
inline constexpr parameter_set parameters_of<path<T>> = [] {
  static_assert(std::is_aggregate_v<T>, "http::path<T>: T is a struct of the parameters");
  static_assert(fits_path<T>(),
                "the members of a http::path are numbers, bool, std::string and enums");
  return describe_parameters<T>();
}();
template <class T>
inline constexpr parameter_set parameters_of<query<T>> = [] {
  static_assert(std::is_aggregate_v<T>, "http::query<T>: T is a struct of the parameters");
  static_assert(fits_query<T>(),
                "the members of a http::query are numbers, bool, std::string and enums, also in a "
                "std::optional or a std::vector, and at most 64");
  return describe_parameters<T>();
}();

/// Into an object of the type that `of` is about. False: it has been answered with 400.
[[nodiscard]] bool read_path(const parameter_set& of, void* object, exchange& e);
[[nodiscard]] bool read_query(const parameter_set& of, void* object, exchange& e);

}  // namespace detail
}  // namespace weft::http

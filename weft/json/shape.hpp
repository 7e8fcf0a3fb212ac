// What JSON a type is, as data: for documents that tell others, such as a JSON Schema.
//
// Contract: shape_of<T>() describes what json::read takes as T and json::write makes of it. Made
// while compiling, lives for ever, and holds itself where the type does. What glaze has been told
// about by hand, and what is not in the list of read.hpp, is of kind `any`. Members keep their
// order. An aggregate may say what it and its members are, for people:
//
//   struct order {
//     std::int64_t id;
//     std::optional<std::string> note;
//     static constexpr weft::json::description descriptions[] = {
//         {"", "What somebody has ordered"}, {"id", "Given by the shop"}};
//   };
//   json::shape_of<order>().members[0].name;  // "id"
#pragma once

#include <weft/base/bounds.hpp>
#include <weft/json/bounded_vector.hpp>
#include <weft/json/enum_names.hpp>
#include <weft/json/members.hpp>

#include <glaze/core/common.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace weft::json {

/// Of a member of that name, or of the type itself, where there is none.
struct description {
  std::string_view name;
  std::string_view text;
  /// A member must be there and not be null, whatever its type allows.
  bool is_required = false;
};

enum class shape_kind : std::uint8_t {
  any,
  boolean,
  integer,
  number,
  text,
  enumeration,  // one of the `names`
  null,
  nullable,  // an `element`, or null
  list,      // of `element`s
  map,       // from names to `element`s
  tuple,     // a list of one of each of the `alternatives`, in their order
  choice,    // one of the `alternatives`
  object     // `members`, and no others
};

struct shape;
using shape_function = const shape& (*)() noexcept;

struct shape_member {
  std::string_view name;
  shape_function type;
  std::string_view text;  // for people; mostly empty
  bool is_required = false;
  const member_bound* (*bound)() = nullptr;  // of its number or numbers; gives nullptr: none
};

struct shape {
  shape_kind kind = shape_kind::any;
  std::int64_t least = 0;  // of an integer
  std::uint64_t most = 0;
  std::size_t longest = std::numeric_limits<std::size_t>::max();  // list, text of one character
  shape_function element = nullptr;
  std::span<const shape_function> alternatives{};
  std::string_view type_name{};  // of an object, as the compiler writes it
  std::string_view text{};       // of an object, for people
  std::span<const shape_member> members{};
  std::span<const weft::detail::enumerator> names{};  // of an enumeration, of the keys of a map
};

template <class T>
const shape& shape_of() noexcept;

namespace detail {

template <class T>
concept has_descriptions = requires { std::span{T::descriptions}; };

/// What T says of its member, or of itself; empty: nothing.
template <class T>
consteval description description_of(std::string_view name) {
  if constexpr (has_descriptions<T>)
    for (const description& each : T::descriptions)
      if (each.name == name) return each;
  return {};
}

template <class T>
consteval bool describes_only_members() {
  if constexpr (has_descriptions<T>) {
    for (const description& each : T::descriptions) {
      bool is_known = each.name.empty();
      for (const auto& name : glz::member_names<T>)
        is_known = is_known || each.name == std::string_view{name};
      if (!is_known) return false;
    }
  }
  return true;
}

template <class T, std::size_t I>
using member_of = std::remove_cvref_t<decltype(glz::get<I>(glz::to_tie(std::declval<T&>())))>;

/// Bounds know their member by where it is, so there must be an object.
template <class T, std::size_t I>
const member_bound* bound_of_member() {
  const T sample{};
  return weft::detail::find_bound(weft::detail::bounds_of<T>, &sample,
                                  &glz::get<I>(glz::to_tie(sample)));
}
template <class T, std::size_t I>
consteval auto bound_function() -> const member_bound* (*)() {
  if constexpr (weft::detail::has_bounds<T>)
    return &bound_of_member<T, I>;
  else
    return nullptr;
}

template <class T, class = std::make_index_sequence<glz::detail::count_members<T>>>
inline constexpr std::array<shape_member, 0> members_of{};
template <class T, std::size_t... I>
inline constexpr std::array<shape_member, sizeof...(I)> members_of<T, std::index_sequence<I...>>{
    shape_member{.name = glz::member_names<T>[I],
                 .type = &shape_of<member_of<T, I>>,
                 .text = description_of<T>(glz::member_names<T>[I]).text,
                 .is_required = description_of<T>(glz::member_names<T>[I]).is_required,
                 .bound = bound_function<T, I>()}...};

template <class... T>
inline constexpr std::array<shape_function, sizeof...(T)> shapes_of{&shape_of<T>...};

template <class T>
inline constexpr bool is_choice = false;
template <class... T>
inline constexpr bool is_choice<std::variant<T...>> = true;

template <class... T>
consteval shape describe_choice(const std::variant<T...>*) {
  return {.kind = shape_kind::choice, .alternatives = shapes_of<T...>};
}

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

template <class... T>
consteval shape describe_tuple(const std::tuple<T...>*) {
  return {.kind = shape_kind::tuple, .longest = sizeof...(T), .alternatives = shapes_of<T...>};
}

/// What is there, where something is: void where T is always there.
template <class T>
struct pointee {
  using type = void;
};
template <class T>
struct pointee<std::optional<T>> {
  using type = T;
};
template <class T>
struct pointee<std::unique_ptr<T>> {
  using type = T;
};
template <class T>
struct pointee<std::shared_ptr<T>> {
  using type = T;
};

template <class T>
concept map_like = requires { typename T::mapped_type; };
template <class T>
concept list_like = requires { typename T::value_type; } && requires(T& all) {
  all.begin();
  all.end();
};
template <class T>
inline constexpr std::size_t longest_list = std::numeric_limits<std::size_t>::max();
template <class T, std::size_t N>
inline constexpr std::size_t longest_list<std::array<T, N>> = N;
template <class T, auto Most, class Allocator>
  requires(std::integral<decltype(Most)>)
inline constexpr std::size_t longest_list<bounded_vector<T, Most, Allocator>> = Most;

template <class T>
consteval shape describe_integer() {
  using limits = std::numeric_limits<T>;
  return {.kind = shape_kind::integer,
          .least = static_cast<std::int64_t>(limits::min()),
          .most = static_cast<std::uint64_t>(limits::max())};
}

template <class T>
consteval shape describe_object() {
  static_assert(describes_only_members<T>(),
                "`descriptions` of a type name its members, or \"\" for the type itself");
  return {.kind = shape_kind::object,
          .type_name = glz::type_name<T>,
          .text = description_of<T>("").text,
          .members = members_of<T>};
}

template <class T>
consteval std::span<const weft::detail::enumerator> names_of() {
  static_assert(all_names_known<T>());
  return weft::detail::enumerators_of<T>;
}

template <class T>
consteval shape describe_map() {
  using key = T::key_type;
  shape map{.kind = shape_kind::map, .element = &shape_of<typename T::mapped_type>};
  if constexpr (named_enum<key>) map.names = names_of<key>();
  return map;
}

template <class T>
consteval shape describe_range() {
  if constexpr (map_like<T>)
    return describe_map<T>();
  else if constexpr (glz::pair_t<typename T::value_type>)
    return {};  // glaze makes an object of it
  else
    return {.kind = shape_kind::list,
            .longest = longest_list<T>,
            .element = &shape_of<typename T::value_type>};
}

template <class T>
consteval shape describe() {
  if constexpr (std::same_as<T, bool>)
    return {.kind = shape_kind::boolean};
  else if constexpr (std::same_as<T, char>)
    return {.kind = shape_kind::text, .longest = 1};
  else if constexpr (std::integral<T> && sizeof(T) <= 8)
    return describe_integer<T>();
  else if constexpr (std::floating_point<T>)
    return {.kind = shape_kind::number};
  else if constexpr (named_enum<T>)
    return {.kind = shape_kind::enumeration, .names = names_of<T>()};
  else if constexpr (std::is_enum_v<T>)
    return describe_integer<std::underlying_type_t<T>>();
  else if constexpr (std::convertible_to<T, std::string_view>)
    return {.kind = shape_kind::text};
  else if constexpr (std::same_as<T, std::monostate> || std::same_as<T, std::nullptr_t>)
    return {.kind = shape_kind::null};
  else if constexpr (!std::is_void_v<typename pointee<T>::type>)
    return {.kind = shape_kind::nullable, .element = &shape_of<typename pointee<T>::type>};
  else if constexpr (is_choice<T>)
    return describe_choice(static_cast<const T*>(nullptr));
  else if constexpr (is_tuple<T>)
    return describe_tuple(static_cast<const T*>(nullptr));
  else if constexpr (list_like<T>)
    return describe_range<T>();
  else if constexpr (glz::reflectable<T>)
    return describe_object<T>();
  else
    return {};
}

template <class T>
inline constexpr shape shape_data = describe<T>();
/// What glaze has been told of by hand.
template <class T>
  requires(glz::glaze_t<T> || glz::meta_keys<T>)
inline constexpr shape shape_data<T>{};

}  // namespace detail

template <class T>
const shape& shape_of() noexcept {
  return detail::shape_data<T>;
}

}  // namespace weft::json

// What an option's type is, as data: how text becomes a value of it, and how it is shown.
//
// Problem: options are plain structs of any shape, but reading them is to be compiled once, not in
// each program. Contract: option_type_of<T> describes T: booleans, integers, floating point,
// strings, enums, std::chrono durations of whole ticks, std::optional and std::vector of these, and
// aggregates at namespace scope whose members may be any type; members of other types are left to
// the program. What is here lives for ever.
//
//   const option_type& type = option_type_of<http::server_options>;
//   type.fields[0].name;  // "listen"
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/base/bounds.hpp>
#include <weft/base/enumerators.hpp>
#include <weft/base/time.hpp>
#include <weft/json/members.hpp>
#include <weft/service/option_fault.hpp>

namespace weft::detail {

enum class option_kind : std::uint8_t {
  boolean,
  integer,
  unsigned_integer,
  floating,
  text,
  enumeration,
  duration,
  optional,
  list,
  table,
};

struct option_type;

struct option_field {
  std::string_view name;
  const option_type* type;  // nullptr: of a type that only the program can set
  void* (*in)(void* object);
};

/// What is said below of `bits` holds for whole numbers, booleans, enumerators and durations, which
/// count ticks: their values as 64 bits, signed unless of kind unsigned_integer.
struct option_type {
  option_kind kind;
  std::int64_t least = 0;
  std::uint64_t most = 0;
  std::int64_t tick_ns = 1;  // of a duration
  void (*set_bits)(void* object, std::uint64_t bits) = nullptr;
  std::uint64_t (*bits)(const void* object) = nullptr;
  void (*set_real)(void* object, double value) = nullptr;
  double (*real)(const void* object) = nullptr;
  std::span<const enumerator> names{};
  std::span<const option_field> fields{};
  std::span<const member_bound> bounds{};  // of some of the fields
  std::vector<option_fault> (*faults)(const void* object) = nullptr;
  // Of an optional, which holds at most one, or a list.
  const option_type* element = nullptr;
  void (*clear)(void* object) = nullptr;
  void* (*append)(void* object) = nullptr;
  std::size_t (*size)(const void* object) = nullptr;
  const void* (*at)(const void* object, std::size_t index) = nullptr;

  /// What the struct at `owner` says of its field at `field`; nullptr: nothing.
  [[nodiscard]] const member_bound* bound_of(const void* owner, const void* field) const noexcept {
    return find_bound(bounds, owner, field);
  }
};

template <class T>
inline constexpr bool is_optional_option = false;
template <class T>
inline constexpr bool is_optional_option<std::optional<T>> = true;

template <class T>
inline constexpr bool is_list_option = false;
template <class T>
inline constexpr bool is_list_option<std::vector<T>> = !std::is_same_v<T, bool>;

template <class T>
inline constexpr bool is_duration_option = false;
template <class Rep, class Period>
inline constexpr bool is_duration_option<std::chrono::duration<Rep, Period>> =
    std::is_integral_v<Rep> && std::ratio_divide<Period, std::nano>::den == 1;

template <class T>
inline constexpr bool is_scalar_option =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, char> && sizeof(T) <= 8) || std::is_enum_v<T> ||
    std::is_same_v<T, std::string> || is_duration_option<T>;

/// Whether option_type_of<T> exists.
template <class T>
consteval bool is_option() {
  if constexpr (is_scalar_option<T>) {
    return true;
  } else if constexpr (is_optional_option<T> || is_list_option<T>) {
    return is_option<typename T::value_type>();
  } else {
    return std::is_aggregate_v<T> && !std::is_array_v<T>;
  }
}

template <class T>
inline constexpr const option_type* option_type_or_null = nullptr;

template <class T>
consteval option_type describe_bits(option_kind kind) {
  option_type type{.kind = kind};
  type.set_bits = [](void* object, std::uint64_t bits) {
    *static_cast<T*>(object) = static_cast<T>(bits);
  };
  type.bits = [](const void* object) {
    return static_cast<std::uint64_t>(*static_cast<const T*>(object));
  };
  return type;
}

template <class T>
consteval option_type describe_number() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    option_type type{.kind = option_kind::floating};
    type.set_real = [](void* object, double value) {
      *static_cast<T*>(object) = static_cast<T>(value);
    };
    type.real = [](const void* object) {
      return static_cast<double>(*static_cast<const T*>(object));
    };
    return type;
  } else {
    option_type type = describe_bits<T>(std::is_signed_v<T> ? option_kind::integer
                                                            : option_kind::unsigned_integer);
    type.least = static_cast<std::int64_t>(limits::min());
    type.most = static_cast<std::uint64_t>(limits::max());
    return type;
  }
}

template <class T>
consteval option_type describe_duration() {
  using rep = T::rep;
  option_type type{.kind = option_kind::duration};
  type.most = static_cast<std::uint64_t>(std::numeric_limits<rep>::max());
  type.tick_ns = std::ratio_divide<typename T::period, std::nano>::num;
  type.set_bits = [](void* object, std::uint64_t bits) {
    *static_cast<T*>(object) = T{static_cast<rep>(bits)};
  };
  type.bits = [](const void* object) {
    return static_cast<std::uint64_t>(static_cast<const T*>(object)->count());
  };
  return type;
}

template <class T>
consteval option_type describe_several(option_kind kind) {
  option_type type{.kind = kind};
  type.element = option_type_or_null<typename T::value_type>;
  if constexpr (is_optional_option<T>) {
    type.clear = [](void* object) { static_cast<T*>(object)->reset(); };
    type.append = [](void* object) -> void* { return &static_cast<T*>(object)->emplace(); };
    type.size = [](const void* object) -> std::size_t {
      return static_cast<const T*>(object)->has_value() ? 1 : 0;
    };
    type.at = [](const void* object, std::size_t) -> const void* {
      return &**static_cast<const T*>(object);
    };
  } else {
    type.clear = [](void* object) { static_cast<T*>(object)->clear(); };
    type.append = [](void* object) -> void* { return &static_cast<T*>(object)->emplace_back(); };
    type.size = [](const void* object) { return static_cast<const T*>(object)->size(); };
    type.at = [](const void* object, std::size_t index) -> const void* {
      return &(*static_cast<const T*>(object))[index];
    };
  }
  return type;
}

template <class T, std::size_t I>
using option_member = std::remove_cvref_t<decltype(glz::get<I>(glz::to_tie(std::declval<T&>())))>;

template <class T>
inline constexpr auto option_fields_of = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<option_field, sizeof...(I)>{
      option_field{.name = glz::member_names<T>[I],
                   .type = option_type_or_null<option_member<T, I>>,
                   .in = [](void* object) -> void* {
                     return &glz::get<I>(glz::to_tie(*static_cast<T*>(object)));
                   }}...};
}(std::make_index_sequence<glz::detail::count_members<T>>{});

template <class T>
concept has_faults = requires(const T& options) {
  { options.faults() } -> std::same_as<std::vector<option_fault>>;
};

template <class T>
consteval option_type describe() {
  if constexpr (std::is_same_v<T, bool>) {
    return describe_bits<T>(option_kind::boolean);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {.kind = option_kind::text};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return describe_number<T>();
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(is_covered<T>(),
                  "an enumerator of an option or a parameter is outside of weft::enum_range: "
                  "specialise it (weft/base/enumerators.hpp)");
    option_type type = describe_bits<T>(option_kind::enumeration);
    type.names = enumerators_of<T>;
    return type;
  } else if constexpr (is_duration_option<T>) {
    return describe_duration<T>();
  } else if constexpr (is_optional_option<T>) {
    return describe_several<T>(option_kind::optional);
  } else if constexpr (is_list_option<T>) {
    return describe_several<T>(option_kind::list);
  } else {
    option_type type{.kind = option_kind::table};
    type.fields = option_fields_of<T>;
    if constexpr (has_bounds<T>) type.bounds = bounds_of<T>;
    if constexpr (has_faults<T>)
      type.faults = [](const void* object) { return static_cast<const T*>(object)->faults(); };
    return type;
  }
}

template <class T>
inline constexpr option_type option_type_of = describe<T>();

template <class T>
  requires(is_option<T>())
inline constexpr const option_type* option_type_or_null<T> = &option_type_of<T>;

}  // namespace weft::detail

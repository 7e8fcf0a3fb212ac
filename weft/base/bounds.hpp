// The least and the most that a number may be, declared in the struct that holds it.
//
// Problem: a number that makes no sense must be refused where somebody wrote it, not clamped
// silently, and not found much later. Contract: a struct has a static function `bounds()` that
// returns bounds(...) of its own members: whole numbers, floating point and durations, also in a
// std::optional or std::vector, where each element is meant. The bounds hold for options from
// wherever they come (weft/service/config.hpp), for the parameters of a request
// (weft/http/parameters.hpp), and for JSON (weft/json/read.hpp, which has no durations), and stand
// in the schemas of these. What a program assigns itself is not checked. Everything here happens
// while compiling.
//
//   struct oven_options {
//     int loaves = 10;
//     weft::duration bake = std::chrono::minutes{40};
//
//     static constexpr auto bounds() {
//       return weft::bounds(weft::within<&oven_options::loaves>(1, 1000),
//                           weft::at_least<&oven_options::bake>(std::chrono::seconds{1}));
//     }
//   };
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <weft/base/time.hpp>

namespace weft {

/// What a bounded member counts.
enum class bounded_kind : std::uint8_t { integer, unsigned_integer, real };

/// The bounds of one member.
struct member_bound {
  bounded_kind kind = bounded_kind::integer;
  const void* (*in)(const void* owner) = nullptr;  // where the member is
  // Of a whole number, and of the ticks of a duration. Where the member has a sign, `most` has it,
  // too: as 64 bits.
  std::int64_t least = 0;
  std::uint64_t most = 0;
  // Of floating point.
  double least_real = 0;
  double most_real = 0;
  bool is_single = false;  // the member is a float, and so are its bounds

  /// Whether the member may have this value, as its type has it: of 0.1, a float has another one
  /// than a double.
  template <class T>
    requires std::is_arithmetic_v<T>
  [[nodiscard]] constexpr bool allows(T value) const noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return is_single ? allows_real(static_cast<float>(value)) : allows_real(value);
    else if constexpr (std::is_signed_v<T>)
      return value >= least && value <= static_cast<std::int64_t>(most);
    else
      return value >= static_cast<std::uint64_t>(least) && value <= most;
  }

  /// False: floating point of any size is allowed there.
  [[nodiscard]] bool has_least() const noexcept {
    return kind != bounded_kind::real || least_real > -real_end;
  }
  [[nodiscard]] bool has_most() const noexcept {
    return kind != bounded_kind::real || most_real < real_end;
  }
  /// The shortest text that the member's type reads as the bound. Of a duration, the ticks.
  [[nodiscard]] std::string least_text() const;
  [[nodiscard]] std::string most_text() const;

 private:
  // What a float can hold counts as no end.
  static constexpr double real_end = std::numeric_limits<float>::max();

  [[nodiscard]] constexpr bool allows_real(double value) const noexcept {
    return value >= least_real && value <= most_real;
  }
  [[nodiscard]] std::string real_text(double bound) const;
};

namespace detail {

template <class Owner>
struct bound_of : member_bound {};

template <class T>
struct bounded_value {
  using type = T;
};
template <class T>
struct bounded_value<std::optional<T>> {
  using type = T;
};
template <class T, class Allocator>
struct bounded_value<std::vector<T, Allocator>> {
  using type = T;
};

template <class T>
inline constexpr bool counts_ticks = false;
template <class Rep, class Period>
inline constexpr bool counts_ticks<std::chrono::duration<Rep, Period>> = true;

template <auto Member>
struct member_parts;
template <class Owner, class T, T Owner::* Member>
struct member_parts<Member> {
  using owner = Owner;
  using value = bounded_value<T>::type;
  static_assert((std::is_arithmetic_v<value> && !std::is_same_v<value, bool>) ||
                    counts_ticks<value>,
                "bounds are for whole numbers, floating point and durations, also in a "
                "std::optional or std::vector");
  static constexpr const void* in(const void* object) {
    return &(static_cast<const Owner*>(object)->*Member);
  }
};

template <auto Member>
using bounded_member = member_parts<Member>::value;

template <auto Member>
consteval auto make_bound(bounded_member<Member> least, bounded_member<Member> most) {
  using parts = member_parts<Member>;
  if (most < least) throw "within(least, most): the first is larger than the second";
  bound_of<typename parts::owner> bound;
  bound.in = &parts::in;
  if constexpr (std::is_floating_point_v<bounded_member<Member>>) {
    bound.kind = bounded_kind::real;
    bound.is_single = std::is_same_v<bounded_member<Member>, float>;
    bound.least_real = static_cast<double>(least);
    bound.most_real = static_cast<double>(most);
  } else if constexpr (counts_ticks<bounded_member<Member>>) {
    bound.least = static_cast<std::int64_t>(least.count());
    bound.most = static_cast<std::uint64_t>(most.count());
  } else {
    if (std::is_unsigned_v<bounded_member<Member>>) bound.kind = bounded_kind::unsigned_integer;
    bound.least = static_cast<std::int64_t>(least);
    bound.most = static_cast<std::uint64_t>(most);
  }
  return bound;
}

template <class T>
consteval T least_of() {
  if constexpr (counts_ticks<T>)
    return T::zero();  // what is written has no negative times
  else
    return std::numeric_limits<T>::lowest();
}
template <class T>
consteval T most_of() {
  if constexpr (counts_ticks<T>)
    return T::max();
  else
    return std::numeric_limits<T>::max();
}

}  // namespace detail

/// From `least` to `most`, both allowed.
template <auto Member>
consteval auto within(detail::bounded_member<Member> least, detail::bounded_member<Member> most) {
  return detail::make_bound<Member>(least, most);
}
template <auto Member>
consteval auto at_least(detail::bounded_member<Member> least) {
  return detail::make_bound<Member>(least, detail::most_of<detail::bounded_member<Member>>());
}
template <auto Member>
consteval auto at_most(detail::bounded_member<Member> most) {
  return detail::make_bound<Member>(detail::least_of<detail::bounded_member<Member>>(), most);
}

/// All bounds of one struct.
template <class Owner, class... Others>
consteval auto bounds(detail::bound_of<Owner> first, Others... others) {
  static_assert((std::is_same_v<Others, detail::bound_of<Owner>> && ...),
                "bounds() of a struct are those of its own members");
  return std::array<detail::bound_of<Owner>, 1 + sizeof...(Others)>{first, others...};
}

namespace detail {

template <class T>
consteval bool declares_bounds() {
  if constexpr (requires(const T& object) { object.bounds(); })
    static_assert(requires { T::bounds(); }, "bounds() of a struct is a static function");
  return requires { T::bounds(); };
}
template <class T>
concept has_bounds = std::is_class_v<T> && declares_bounds<T>();

template <class T>
inline constexpr auto bounds_of = [] {
  constexpr auto declared = T::bounds();
  static_assert(requires { declared.size(); }, "bounds() of a struct returns weft::bounds(...)");
  static_assert(std::is_same_v<typename decltype(declared)::value_type, bound_of<T>>,
                "bounds() of a struct are those of its own members");
  std::array<member_bound, declared.size()> bounds;
  for (std::size_t i = 0; i < declared.size(); ++i) bounds[i] = declared[i];
  return bounds;
}();

/// Of the member that lies at `member` of `owner`; nullptr: it has none.
inline const member_bound* find_bound(std::span<const member_bound> bounds, const void* owner,
                                      const void* member) noexcept {
  for (const member_bound& each : bounds)
    if (each.in(owner) == member) return &each;
  return nullptr;
}

}  // namespace detail

}  // namespace weft

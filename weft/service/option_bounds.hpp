// The least and the most an option may be, said where the option is.
//
// Problem: a number that makes no sense is to be refused where somebody wrote it, by line and
// column, not to be clamped in silence or to fail much later. Contract: a struct of options has a
// static function `bounds()` that gives bounds(...) of its own members: whole numbers, floating
// point and durations, also in a std::optional or std::vector, where each element is meant. Values
// outside are faults, from wherever they come (config.hpp). Everything here happens while
// compiling.
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
#include <type_traits>

#include <weft/base/time.hpp>

namespace weft {

namespace detail {

/// Of one member. Whole numbers as option_type has them; durations count their ticks.
struct option_bound {
  const void* (*in)(const void* owner) = nullptr;  // where the member is
  std::int64_t least = 0;
  std::uint64_t most = 0;
  double least_real = 0;
  double most_real = 0;
};

template <class Owner>
struct bound_of : option_bound {};

template <class T>
struct bounded_value {
  using type = T;
};
/// What is in an optional or a vector.
template <template <class...> class Several, class T, class... Rest>
  requires requires { typename Several<T, Rest...>::value_type; }
struct bounded_value<Several<T, Rest...>> {
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
                "bounds are for whole numbers, floating point and durations");
  static constexpr const void* in(const void* object) {
    return &(static_cast<const Owner*>(object)->*Member);
  }
};

template <auto Member>
using bounded_member = member_parts<Member>::value;

template <auto Member>
consteval auto make_bound(bounded_member<Member> least, bounded_member<Member> most) {
  using parts = member_parts<Member>;
  bound_of<typename parts::owner> bound;
  bound.in = &parts::in;
  if constexpr (std::is_floating_point_v<bounded_member<Member>>) {
    bound.least_real = static_cast<double>(least);
    bound.most_real = static_cast<double>(most);
  } else if constexpr (counts_ticks<bounded_member<Member>>) {
    bound.least = static_cast<std::int64_t>(least.count());
    bound.most = static_cast<std::uint64_t>(most.count());
  } else {
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

}  // namespace weft

// What a constructor needs, read from its parameters.
//
// Contract: a service has exactly one constructor besides copy and move. If the class names an
// `options` type, that may be the constructor's first parameter, by value; all other parameters are
// references to services. No macro, no base class, no registration. A class whose constructors
// leave a choice does not compile, and the message says what to do: keep one, or name what to
// inject by `using inject = weft::dependencies<A&, B&>;`. What is needed is asked for from the
// first parameter to the last.
//
//   struct ping_api {
//     explicit ping_api(http::server& http);    // needs http::server
//   };
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft {

/// For a class with several constructors: the parameters to inject, after its options if it takes
/// them.
template <class... Parameters>
struct dependencies {
  static_assert(((std::is_lvalue_reference_v<Parameters> &&
                  !std::is_const_v<std::remove_reference_t<Parameters>>) &&
                 ...),
                "services are injected by reference: write `T&`, not `T` or `const T&`");
};

/// The options of a service that has none.
struct no_options {};

namespace detail {

template <class T>
struct options_type {
  using type = no_options;
};
template <class T>
  requires requires { typename T::options; }
struct options_type<T> {
  using type = typename T::options;
};

/// Stands for any service reference but a `Service` itself, so that copy and move constructors do
/// not count.
template <class Service>
struct any_reference {
  template <class U>
    requires(!std::same_as<std::remove_cv_t<U>, Service>)
  operator U&() const noexcept;
};

template <class Service, std::size_t>
using one_reference = any_reference<Service>;

template <class T, class Indices, class... Leading>
inline constexpr bool takes_indexed = false;
template <class T, std::size_t... I, class... Leading>
inline constexpr bool takes_indexed<T, std::index_sequence<I...>, Leading...> =
    std::is_constructible_v<T, Leading..., one_reference<T, I>...>;

/// Whether T can be made from `Leading...` and N references.
template <class T, std::size_t N, class... Leading>
inline constexpr bool takes = takes_indexed<T, std::make_index_sequence<N>, Leading...>;

inline constexpr std::size_t parameters_max = 16;

/// In how many ways T can be made from `Leading...` and references: its constructors, told apart by
/// their length. An aggregate that needs nothing is made from nothing, not from guesses at its
/// members.
template <class T, class... Leading>
consteval std::size_t arities() {
  if constexpr (std::is_aggregate_v<T> && std::is_constructible_v<T, Leading...>) return 1;
  return []<std::size_t... N>(std::index_sequence<N...>) {
    return (std::size_t{takes<T, N, Leading...>} + ...);
  }(std::make_index_sequence<parameters_max + 1>{});
}

/// The length of the one constructor there is, less `Leading...`.
template <class T, class... Leading>
consteval std::size_t arity() {
  if constexpr (std::is_aggregate_v<T> && std::is_constructible_v<T, Leading...>) return 0;
  std::size_t found = 0;
  [&]<std::size_t... N>(std::index_sequence<N...>) {
    ((takes<T, N, Leading...> ? void(found = N) : void()), ...);
  }(std::make_index_sequence<parameters_max + 1>{});
  return found;
}

/// Stands for a value, which a parameter `A&` does not take and `A`, `const A&` and `A&&` do.
template <class Service>
struct any_value {
  template <class U>
    requires(!std::same_as<U, Service>)
  operator U() const noexcept;
};

template <class Service, std::size_t I, std::size_t Probed>
using probe = std::conditional_t<I == Probed, any_value<Service>, any_reference<Service>>;

template <class T, std::size_t N, class... Leading>
consteval bool takes_a_value() {
  return []<std::size_t... I>([[maybe_unused]] std::index_sequence<I...> all) {
    [[maybe_unused]] const auto at = []<std::size_t Probed, std::size_t... J>(
                                         std::integral_constant<std::size_t, Probed>,
                                         std::index_sequence<J...>) {
      return std::is_constructible_v<T, Leading..., probe<T, J, Probed>...>;
    };
    return (at(std::integral_constant<std::size_t, I>{}, all) || ...);
  }(std::make_index_sequence<N>{});
}

}  // namespace detail

/// `T::options` if the class names one, else no_options.
template <class T>
using options_of = typename detail::options_type<T>::type;

namespace detail {

template <class T>
inline constexpr bool names_dependencies = requires { typename T::inject; };

/// Makes a T where `place(arguments...)` puts it, in braces, since only those are evaluated in
/// order. `resolve.template get<U>()` gives a U&.
template <class T, class Options, class Resolve, class Place>
decltype(auto) construct_named(Options&& options, Resolve& resolve, Place place) {
  return [&]<class... P>(dependencies<P...>) -> decltype(auto) {
    std::tuple<P...> needed{resolve.template get<std::remove_reference_t<P>>()...};
    if constexpr (std::is_constructible_v<T, Options, P...>)
      return std::apply(
          place, std::tuple_cat(std::forward_as_tuple(std::forward<Options>(options)), needed));
    else
      return std::apply(place, needed);
  }(typename T::inject{});
}

/// Becomes whichever service the parameter asks for.
template <class Service, class Resolve>
struct resolving_reference {
  Resolve& resolve;
  template <class U>
    requires(!std::same_as<std::remove_cv_t<U>, Service>)
  operator U&() const {
    return resolve.template get<U>();
  }
};

template <class T, class Resolve, class Place, class... Leading>
decltype(auto) construct_deduced(Resolve& resolve, Place place, Leading&&... leading) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
    const resolving_reference<T, Resolve> any{resolve};
    return place(std::forward<Leading>(leading)..., ((void)I, any)...);
  }(std::make_index_sequence<arity<T, Leading...>()>{});
}

template <class T, std::size_t N, class... Leading>
consteval void require_references() {
  static_assert(!takes_a_value<T, N, Leading...>(),
                "services are injected by reference: write `T&`, not `T` or `const T&`; values "
                "belong into the options");
}

template <class T, class Options, class Resolve, class Place>
decltype(auto) construct(Options&& options, Resolve& resolve, Place place) {
  if constexpr (names_dependencies<T>) {
    return construct_named<T>(std::forward<Options>(options), resolve, place);
  } else {
    constexpr bool has_options = !std::same_as<std::remove_cvref_t<Options>, no_options>;
    constexpr std::size_t with = has_options ? arities<T, Options>() : 0;
    constexpr std::size_t without = arities<T>();
    static_assert(with + without != 0,
                  "a service has one constructor that takes its options, if it has any, and "
                  "references to other services: "
                  "`explicit T(options, A&, B&)`; with several of one length, say which by "
                  "`using inject = weft::dependencies<A&, B&>;`");
    static_assert(with <= 1 && without <= 1,
                  "a service has one constructor besides copy and move; with several, say which by "
                  "`using inject = weft::dependencies<A&, B&>;`");
    if constexpr (with == 1) {
      require_references<T, arity<T, Options>(), Options>();
      return construct_deduced<T>(resolve, place, std::forward<Options>(options));
    } else {
      require_references<T, arity<T>()>();
      return construct_deduced<T>(resolve, place);
    }
  }
}

}  // namespace detail

}  // namespace weft

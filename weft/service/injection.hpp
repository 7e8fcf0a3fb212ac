// What a constructor needs, read from its parameters.
//
// Contract: a service has exactly one constructor besides copy and move. If the class names an `options` type, that may be the
// constructor's first parameter, by value; all other parameters are references to services. No macro, no base class, no
// registration. A class whose constructors leave a choice does not compile, and the message says what to do: keep one, or
// write `using inject = weft::dependencies<A&, B&>;`.
//
//   struct ping_api {
//     explicit ping_api(http::server& http);    // needs http::server
//   };
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace weft {

/// For a class with several constructors: the parameters to inject, after its options if it takes them.
template <class... Parameters>
struct dependencies {
  static_assert((std::is_lvalue_reference_v<Parameters> && ...), "services are injected by reference: write `T&`");
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

/// Stands for any service reference but a `Service` itself, so that copy and move constructors do not count.
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

template <class T, class... Leading>
consteval std::size_t arities() {
  return []<std::size_t... N>(std::index_sequence<N...>) {
    return (std::size_t{takes<T, N, Leading...>} + ...);
  }(std::make_index_sequence<parameters_max + 1>{});
}

template <class T, class... Leading>
consteval std::size_t arity() {
  std::size_t found = 0;
  [&]<std::size_t... N>(std::index_sequence<N...>) {
    ((takes<T, N, Leading...> ? void(found = N) : void()), ...);
  }(std::make_index_sequence<parameters_max + 1>{});
  return found;
}

}  // namespace detail

/// `T::options` if the class names one, else no_options.
template <class T>
using options_of = typename detail::options_type<T>::type;

namespace detail {

template <class T>
inline constexpr bool names_dependencies = requires { typename T::inject; };

/// Makes a T where `place(arguments...)` puts it. `resolve.template operator()<U>()` gives a U&.
template <class T, class Options, class Resolve, class Place>
decltype(auto) construct_named(Options&& options, Resolve& resolve, Place place) {
  return [&]<class... P>(std::type_identity<dependencies<P...>>) -> decltype(auto) {
    if constexpr (std::is_constructible_v<T, Options, P...>)
      return place(std::forward<Options>(options), resolve.template get<std::remove_reference_t<P>>()...);
    else
      return place(resolve.template get<std::remove_reference_t<P>>()...);
  }(std::type_identity<typename T::inject>{});
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

template <class T, class Options, class Resolve, class Place>
decltype(auto) construct(Options&& options, Resolve& resolve, Place place) {
  if constexpr (names_dependencies<T>) {
    return construct_named<T>(std::forward<Options>(options), resolve, place);
  } else {
    constexpr std::size_t with = std::same_as<std::remove_cvref_t<Options>, no_options> ? 0 : arities<T, Options>();
    constexpr std::size_t without = arities<T>();
    static_assert(with + without != 0,
                  "a service's constructor takes its options, if it has any, and references to other services: "
                  "`explicit T(options, A&, B&)`");
    static_assert(with <= 1 && (with == 1 || without <= 1),
                  "a service has one constructor besides copy and move; with several, say which by "
                  "`using inject = weft::dependencies<A&, B&>;`");
    if constexpr (with == 1)
      return construct_deduced<T>(resolve, place, std::forward<Options>(options));
    else
      return construct_deduced<T>(resolve, place);
  }
}

}  // namespace detail

}  // namespace weft

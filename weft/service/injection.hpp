// What a constructor needs, read from its parameters.
//
// Contract: a service has exactly one constructor besides copy and move. If the class names an
// `options` type, that may be the constructor's first parameter, by value; all other parameters are
// references to services, or one of those of needs.hpp: maybe<T>, many<T>, named<T, "n">, consumer.
// No macro, no base class, no registration. A class whose constructors leave a choice does not
// compile, and the message says what to do: keep one, or name what to inject by `using inject =
// weft::dependencies<A&, maybe<B>>;`.
//
//   struct ping_api {
//     explicit ping_api(http::server& http);    // needs http::server
//   };
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <weft/service/needs.hpp>

namespace weft {

namespace detail {

/// What is injected by value.
template <class P>
inline constexpr bool is_need = requires { parameter<P>::kind; } && !std::is_reference_v<P>;

}  // namespace detail

/// For a class with several constructors: the parameters to inject, after its options if it takes
/// them.
template <class... Parameters>
struct dependencies {
  static_assert((((std::is_lvalue_reference_v<Parameters> &&
                   !std::is_const_v<std::remove_reference_t<Parameters>>) ||
                  detail::is_need<Parameters>) &&
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

/// Whether a parameter `U&` is one: not `Service` itself, so that copy and move constructors do not
/// count.
template <class U, class Service>
concept referred_to = !std::same_as<std::remove_cv_t<U>, Service> && !is_need<std::remove_cv_t<U>>;

/// Stands for any service reference, and for what is injected by value.
template <class Service>
struct any_reference {
  template <class U>
    requires referred_to<U, Service>
  operator U&() const noexcept;
  template <class U>
    requires is_need<U>
  operator U() const noexcept;
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
    requires(!std::same_as<U, Service> && !is_need<U>)
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

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"  // one function for each is what is meant
#endif

// How a parameter's type gets out of overload resolution, where alone it is known: whoever stands
// for the parameter there is converted to its type, and that defines a function that gives it (a
// friend, so that its name is known before its definition is).

template <class Service, std::size_t I>
struct parameter_place {
  friend auto type_at(parameter_place);
};

template <class Service, std::size_t I, class P>
struct noted {
  friend auto type_at(parameter_place<Service, I>) { return std::type_identity<P>{}; }
  static constexpr bool value = true;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class Service, std::size_t I>
struct noting_reference {
  template <class U>
    requires referred_to<U, Service> && noted<Service, I, U&>::value
  operator U&() const noexcept;
  template <class U>
    requires is_need<U> && noted<Service, I, U>::value
  operator U() const noexcept;
};

template <class T, class... Leading, std::size_t... I>
consteval auto note_parameters(std::index_sequence<I...>) {
  if constexpr (std::is_constructible_v<T, Leading..., noting_reference<T, I>...>)
    return dependencies<typename decltype(type_at(parameter_place<T, I>{}))::type...>{};
}

template <class T, std::size_t N, class... Leading>
consteval void require_references() {
  static_assert(!takes_a_value<T, N, Leading...>(),
                "services are injected by reference: write `T&`, not `T` or `const T&`; values "
                "belong into a struct that the class names by `using options = my_options;`");
}

template <class T>
inline constexpr bool names_dependencies = requires { typename T::inject; };

template <class T>
inline constexpr bool has_options = !std::same_as<options_of<T>, no_options>;

/// dependencies<...>: what T's constructor takes after its options.
template <class T>
consteval auto parameters() {
  if constexpr (names_dependencies<T>) {
    return typename T::inject{};
  } else {
    constexpr std::size_t with = has_options<T> ? arities<T, options_of<T>>() : 0;
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
      constexpr std::size_t count = arity<T, options_of<T>>();
      require_references<T, count, options_of<T>>();
      return note_parameters<T, options_of<T>>(std::make_index_sequence<count>{});
    } else {
      constexpr std::size_t count = arity<T>();
      require_references<T, count>();
      return note_parameters<T>(std::make_index_sequence<count>{});
    }
  }
}

template <class T>
using parameters_of = decltype(parameters<T>());

template <class T, class Needs>
inline constexpr bool takes_options_before = false;
template <class T, class... P>
inline constexpr bool takes_options_before<T, dependencies<P...>> =
    has_options<T> && std::is_constructible_v<T, options_of<T>, P...>;

}  // namespace detail

}  // namespace weft

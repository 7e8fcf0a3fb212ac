// What the type of a handler says: what it takes, and what it gives. Inside of weft/http.
//
// Contract: questions about types, answered while compiling, with messages that name the fix.
//
//   body_of<const request&, ping>   // ping
#pragma once

#include <concepts>
#include <type_traits>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/parameters.hpp>

namespace weft::http {

class body_reader;
class body_writer;
class request;

namespace detail {

template <class... A>
struct parameters {};

template <class F>
struct signature : signature<decltype(&F::operator())> {};
template <class R, class... A>
struct signature<R (*)(A...)> {
  using arguments = parameters<A...>;
  using type = R;
};
template <class R, class... A>
struct signature<R (*)(A...) noexcept> : signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct signature<R (C::*)(A...)> : signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct signature<R (C::*)(A...) const> : signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct signature<R (C::*)(A...) noexcept> : signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct signature<R (C::*)(A...) const noexcept> : signature<R (*)(A...)> {};

template <class A>
inline constexpr bool is_request = std::same_as<std::remove_cvref_t<A>, request>;
template <class A>
inline constexpr bool is_reader = std::same_as<std::remove_cvref_t<A>, body_reader>;
template <class A>
inline constexpr bool is_writer = std::same_as<std::remove_cvref_t<A>, body_writer>;
/// What a handler is lent, rather than given.
template <class A>
inline constexpr bool is_lent = is_request<A> || is_reader<A> || is_writer<A>;

template <class A>
struct path_parameter : std::false_type {};
template <class T>
struct path_parameter<path<T>> : std::true_type {};
template <class A>
struct query_parameter : std::false_type {};
template <class T>
struct query_parameter<query<T>> : std::true_type {};
template <class A>
struct body_parameter
    : std::bool_constant<!is_lent<A> && !path_parameter<A>::value && !query_parameter<A>::value> {};

/// Stands for what a handler does not take.
struct absent {};
template <class T>
inline constexpr bool is_absent = std::same_as<T, absent>;

/// The one of `A` that `Is` holds of.
template <template <class> class Is, class... A>
struct only {
  using type = absent;
};
template <template <class> class Is, class First, class... Rest>
struct only<Is, First, Rest...>
    : std::conditional_t<Is<First>::value, std::type_identity<First>, only<Is, Rest...>> {
  static_assert(!Is<First>::value || is_absent<typename only<Is, Rest...>::type>,
                "a handler takes one body, one http::path and one http::query: put what you need "
                "into one aggregate each");
};

template <class... A>
using path_of = only<path_parameter, std::remove_cvref_t<A>...>::type;
template <class... A>
using query_of = only<query_parameter, std::remove_cvref_t<A>...>::type;
/// What is read from the body.
template <class... A>
using body_of = only<body_parameter, std::remove_cvref_t<A>...>::type;

template <class... A>
constexpr bool reads_body(parameters<A...>) noexcept {
  static_assert(!(is_reader<A> || ...) || is_absent<body_of<A...>>,
                "a handler reads the body itself, or is given what it holds, not both");
  return (is_reader<A> || ...);
}
template <class... A>
constexpr bool writes_body(parameters<A...>) noexcept {
  return (is_writer<A> || ...);
}

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;
template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T>> = true;

}  // namespace detail
}  // namespace weft::http

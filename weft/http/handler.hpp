// Turns what users write into what the server calls.
//
// Contract: a handler is any callable whose parameters are, in any order, at most one `const
// http::request&` and at most one aggregate or container, which is read from the JSON body (a bad
// body is answered with 400 and never reaches the handler). Instead of that it may take a
// `http::body_reader&`, by which it reads the body piece by piece, and a `http::body_writer&`, by
// which it replies piece by piece. It returns what to reply, or a task of it:
//   http::response      as it is             void         204
//   std::string, text   200, text/plain      result<R>    R, or a problem document for the error
//   anything else       200, application/json
// What a task was given is kept until the task has ended, and so is the handler itself, which else
// ends with its route.
//
//   http.post("/ping", [](ping p) { return p; });
//   http.get("/users/{id}", [](const http::request& r) -> task<result<user>> { ... });
//   http.put("/files/{id}", [](http::body_reader& body) -> task<result<void>> { ... });
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/body_reader.hpp>
#include <weft/http/body_writer.hpp>
#include <weft/http/exchange.hpp>
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>

namespace weft::http {

/// How a handler is given the body of a request.
enum class body_arrival : std::uint8_t {
  whole,    // it is called when all has come
  streamed  // it is called when the head has come, and takes the body by exchange::reader()
};

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

/// The one parameter that is read from the body; void if there is none.
template <class... A>
struct body_of {
  using type = void;
};
template <class First, class... Rest>
struct body_of<First, Rest...> {
  using later = typename body_of<Rest...>::type;
  static_assert(is_lent<First> || std::is_void_v<later>,
                "a handler takes one body: put what you need into one aggregate");
  using type = std::conditional_t<is_lent<First>, later, std::remove_cvref_t<First>>;
};

template <class... A>
constexpr bool reads_body(parameters<A...>) noexcept {
  static_assert(!(is_reader<A> || ...) || std::is_void_v<typename body_of<A...>::type>,
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

template <class R>
void reply_with(exchange& e, R&& value) {
  using type = std::remove_cvref_t<R>;
  if constexpr (is_result<type>) {
    if (!value) {
      e.reply(value.error());
    } else if constexpr (std::is_void_v<typename type::value_type>) {
      e.reply(status::no_content, {}, {});
    } else {
      reply_with(e, std::forward<R>(value).value());
    }
  } else if constexpr (std::same_as<type, response>) {
    e.reply(std::forward<R>(value));
  } else if constexpr (std::same_as<R, std::string>) {
    e.reply(response::text(std::forward<R>(value)));
  } else if constexpr (std::convertible_to<type, std::string_view>) {
    e.reply(status::ok, "text/plain; charset=utf-8", value);
  } else {
    char room[2048];
    std::string large;
    const std::string_view text = json::write_into(value, room, large);
    if (large.empty()) [[likely]] {
      e.reply(status::ok, "application/json", text);
    } else {
      if (large.capacity() > 4 * large.size()) large.shrink_to_fit();  // it may be sent slowly
      e.reply(response::json_text(std::move(large)));
    }
  }
}

/// Stands for the body where a handler takes none.
struct no_body {};

template <class A, class Body>
decltype(auto) argument(exchange& e, Body& body) {
  if constexpr (is_request<A>) {
    static_assert(std::same_as<A, const request&>,
                  "handlers see the request as `const http::request&`");
    return e.request();
  } else if constexpr (is_reader<A>) {
    static_assert(std::same_as<A, body_reader&>, "handlers read by a `http::body_reader&`");
    return e.reader();
  } else if constexpr (is_writer<A>) {
    static_assert(std::same_as<A, body_writer&>, "handlers write by a `http::body_writer&`");
    return e.writer();
  } else {
    return std::move(body);
  }
}

template <class F, class Body, class... A>
void answer_now(F& f, exchange& e, Body& body, parameters<A...>) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&, A...>>) {
    f(argument<A>(e, body)...);
    e.reply(status::no_content, {}, {});
  } else {
    reply_with(e, f(argument<A>(e, body)...));
  }
}

/// Keeps the body for as long as the handler's task runs, which may have taken it by reference.
template <class F, class Body, class... A>
task<void> answer_later(F& f, exchange& e, Body body, parameters<A...>) {
  if constexpr (std::is_void_v<typename std::invoke_result_t<F&, A...>::value_type>) {
    co_await f(argument<A>(e, body)...);
    e.reply(status::no_content, {}, {});
  } else {
    reply_with(e, co_await f(argument<A>(e, body)...));
  }
}

/// The same of a handler that reads the request's body.
template <class F, class Body, class... A>
task<void> answer_reading(F& f, exchange& e, Body body, parameters<A...>) {
  if constexpr (std::is_void_v<typename std::invoke_result_t<F&, A...>::value_type>) {
    co_await f(argument<A>(e, body)...);
    if (!e.reply_lost_body()) e.reply(status::no_content, {}, {});
  } else {
    auto answer = co_await f(argument<A>(e, body)...);
    if (!e.reply_lost_body()) reply_with(e, std::move(answer));
  }
}

/// The same of a handler that writes its reply's body.
template <class F, class Body, class... A>
task<void> answer_writing(F& f, exchange& e, Body body, parameters<A...>) {
  using outcome = typename std::invoke_result_t<F&, A...>::value_type;
  static_assert(std::is_void_v<outcome> || std::same_as<outcome, result<void>>,
                "a handler that writes its reply returns task<void> or task<result<void>>");
  if constexpr (std::is_void_v<outcome>) {
    co_await f(argument<A>(e, body)...);
    if (!e.reply_lost_body()) e.end_body();
  } else {
    const result<void> done = co_await f(argument<A>(e, body)...);
    if (e.reply_lost_body()) co_return;
    if (done)
      e.end_body();
    else
      e.reply(done.error());
  }
}

template <class F, class Body, class... A>
void answer(F& f, exchange& e, Body& body, parameters<A...> list) {
  constexpr bool is_late = is_task<std::invoke_result_t<F&, A...>>;
  static_assert(is_late || !(reads_body(list) || writes_body(list)),
                "a handler that streams a body waits for the client: return a task");
  if constexpr (!is_late)
    answer_now(f, e, body, list);
  else if constexpr (writes_body(list))
    e.work.emplace(answer_writing(f, e, std::move(body), list));
  else if constexpr (reads_body(list))
    e.work.emplace(answer_reading(f, e, std::move(body), list));
  else
    e.work.emplace(answer_later(f, e, std::move(body), list));
}

template <class F, class... A>
void invoke(F& f, exchange& e, parameters<A...> list) {
  using body_type = typename body_of<A...>::type;
  if constexpr (std::is_void_v<body_type>) {
    no_body none;
    answer(f, e, none, list);
  } else {
    auto body = json::read<body_type>(e.request().body());
    if (body)
      answer(f, e, *body, list);
    else
      e.reply(body.error());
  }
}

}  // namespace detail

/// How a handler wants the body, as its parameters say.
template <class F>
inline constexpr body_arrival arrival_for =
    detail::reads_body(typename detail::signature<F>::arguments{}) ? body_arrival::streamed
                                                                   : body_arrival::whole;

template <class F>
[[nodiscard]] handler make_handler(F f) {
  return [f = std::move(f)](exchange& e) mutable {
    detail::invoke(f, e, typename detail::signature<F>::arguments{});
  };
}

}  // namespace weft::http

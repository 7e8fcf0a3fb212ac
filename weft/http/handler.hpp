// Turns what users write into what the server calls.
//
// Contract: a handler is any callable whose parameters are, in any order, at most one `const
// http::request&`, one http::path<T> and one http::query<T> (parameters.hpp), and one aggregate or
// container, which is read from the JSON body. What does not fit is answered with 400 and never
// reaches the handler. Instead of the last it may take a `http::body_reader&`, by which it reads
// the body piece by piece, and a `http::body_writer&`, by which it replies piece by piece. It
// returns what to reply, or a task of it:
//   http::response      as it is             void         204
//   std::string, text   200, text/plain      result<R>    R, or a problem document for the error
//   http::created<T>    201, application/json, with Location
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
#include <weft/http/created.hpp>
#include <weft/http/exchange.hpp>
#include <weft/http/handler_traits.hpp>
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>

namespace weft::http::detail {

template <class T>
void reply_with_json(exchange& e, const T& value) {
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
  } else if constexpr (is_created<type>) {
    std::string text;
    json::write(value.value, text);
    reply_created(e, std::move(text), value.location);
  } else {
    reply_with_json(e, value);
  }
}

/// What is read for a handler that takes parameters.
template <class Path, class Query, class Body>
struct inputs {
  Path path{};
  Query query{};
  Body body{};
};
template <class T>
inline constexpr bool is_inputs = false;
template <class Path, class Query, class Body>
inline constexpr bool is_inputs<inputs<Path, Query, Body>> = true;

/// `Body`: what is read from the body, or the inputs with that in it.
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
  } else if constexpr (path_parameter<std::remove_cvref_t<A>>::value) {
    return std::move(body.path);
  } else if constexpr (query_parameter<std::remove_cvref_t<A>>::value) {
    return std::move(body.query);
  } else if constexpr (is_inputs<Body>) {
    return std::move(body.body);
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

/// False: it has been answered with what is wrong.
template <class Path, class Query, class Body>
bool read_inputs(exchange& e, inputs<Path, Query, Body>& in) {
  if constexpr (!is_absent<Path>)
    if (!read_path(parameters_of<Path>, &*in.path, e)) return false;
  if constexpr (!is_absent<Query>)
    if (!read_query(parameters_of<Query>, &*in.query, e)) return false;
  if constexpr (!is_absent<Body>) {
    if (const auto done = json::read_into(in.body, e.request().body()); !done) {
      e.reply(done.error());
      return false;
    }
  }
  return true;
}

template <class F, class... A>
void invoke(F& f, exchange& e, parameters<A...> list) {
  using body_type = body_of<A...>;
  if constexpr (!is_absent<path_of<A...>> || !is_absent<query_of<A...>>) {
    inputs<path_of<A...>, query_of<A...>, body_type> in;
    if (read_inputs(e, in)) answer(f, e, in, list);
  } else if constexpr (is_absent<body_type>) {
    absent none;
    answer(f, e, none, list);
  } else {
    auto body = json::read<body_type>(e.request().body());
    if (body)
      answer(f, e, *body, list);
    else
      e.reply(body.error());
  }
}

}  // namespace weft::http::detail

namespace weft::http {

template <class F>
[[nodiscard]] handler make_handler(F f) {
  return [f = std::move(f)](exchange& e) mutable {
    detail::invoke(f, e, typename detail::signature<F>::arguments{});
  };
}

}  // namespace weft::http

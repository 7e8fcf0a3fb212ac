// What a handler takes and gives, as data: for whoever serves it, and for documents that tell.
//
// Contract: internal to http. Made while compiling, from the handler's type alone; lives for ever.
//
//   handler_shape_of<F>.body().type_name;   // "ping"
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include <weft/http/created.hpp>
#include <weft/http/handler_traits.hpp>
#include <weft/http/method.hpp>
#include <weft/http/parameters.hpp>
#include <weft/http/response.hpp>
#include <weft/http/status.hpp>
#include <weft/json/shape.hpp>

namespace weft::http {

/// How a handler is given the body of a request.
enum class body_arrival : std::uint8_t {
  whole,    // it is called when all has come
  streamed  // it is called when the head has come, and takes the body by exchange::reader()
};

/// What its reply holds.
enum class reply_kind : std::uint8_t {
  own,      // whatever the handler chooses: nothing is known
  nothing,  // 204
  text,
  json
};

struct handler_shape {
  body_arrival arrival = body_arrival::whole;
  json::shape_function body = nullptr;  // read from JSON; nullptr: none
  parameter_set path{};
  parameter_set query{};
  reply_kind reply = reply_kind::own;
  status success = status::ok;
  json::shape_function content = nullptr;  // of a reply of kind json
  bool has_location = false;

  /// Whether a request may be answered with 400 before the handler is asked.
  [[nodiscard]] bool checks_requests() const noexcept {
    return body != nullptr || path.type != nullptr || query.type != nullptr;
  }
};

/// Whether a route of this pattern has what the handler takes from its path; else a sentence that
/// says what is missing, and how to mend it.
[[nodiscard]] std::expected<void, std::string> check_fit(const handler_shape& shape, method asked,
                                                         std::string_view pattern);

namespace detail {

template <class R>
consteval void describe_reply(handler_shape& shape) {
  if constexpr (is_task<R> || is_result<R>) {
    describe_reply<typename R::value_type>(shape);
  } else if constexpr (std::is_void_v<R>) {
    shape.reply = reply_kind::nothing;
    shape.success = status::no_content;
  } else if constexpr (std::same_as<R, response>) {
    shape.reply = reply_kind::own;
  } else if constexpr (std::convertible_to<R, std::string_view>) {
    shape.reply = reply_kind::text;
  } else if constexpr (is_created<R>) {
    shape.reply = reply_kind::json;
    shape.success = status::created;
    shape.content = &json::shape_of<decltype(R::value)>;
    shape.has_location = true;
  } else {
    shape.reply = reply_kind::json;
    shape.content = &json::shape_of<R>;
  }
}

template <class R, class... A>
consteval handler_shape describe_handler(parameters<A...> list) {
  handler_shape shape{.arrival = reads_body(list) ? body_arrival::streamed : body_arrival::whole,
                      .path = parameters_of<path_of<A...>>,
                      .query = parameters_of<query_of<A...>>};
  if constexpr (!is_absent<body_of<A...>>) shape.body = &json::shape_of<body_of<A...>>;
  if constexpr (!writes_body(parameters<A...>{})) describe_reply<std::remove_cvref_t<R>>(shape);
  return shape;
}

}  // namespace detail

template <class F>
inline constexpr handler_shape handler_shape_of =
    detail::describe_handler<typename detail::signature<F>::type>(
        typename detail::signature<F>::arguments{});

/// Of a handler that nothing is known of.
inline constexpr handler_shape unknown_handler{};
inline constexpr handler_shape unknown_streaming_handler{.arrival = body_arrival::streamed};

}  // namespace weft::http

// A handler, and what is known and said of it.
//
// Problem: a description of a service that stands elsewhere says something else by the next
// release. Contract: routes are added with what make_route_handler() makes of a callable; types say
// what they can, and described() adds what people want to know. Values.
//
//   http.get("/orders/{id}",
//            http::described(find_order, {.summary = "One order",
//                                         .errors = {http::status::not_found}}));
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/unique_function.hpp>
#include <weft/http/handler.hpp>
#include <weft/http/handler_shape.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/status.hpp>
#include <weft/json/shape.hpp>

namespace weft::http {

class cors;

/// A reply that the handler's type does not tell of.
struct described_reply {
  status code = status::ok;
  std::string text{};  // empty: the reason phrase
  /// Such as &json::shape_of<order>; nullptr: not JSON.
  json::shape_function content = nullptr;
  /// Of its content; empty: application/json if that is known, and else none.
  std::string media_type{};
};

/// For people, and for programs that are made from the document of a server (openapi_page.hpp).
struct route_description {
  std::string summary{};
  std::string description{};  // CommonMark
  std::vector<std::string> tags{};
  /// A name for generated functions; empty: one is made of the method and the path.
  std::string operation_id{};
  /// Statuses that are answered with problem documents, or may be, beside those in `replies`.
  std::vector<status> errors{};
  /// Several of one status differ in their media types.
  std::vector<described_reply> replies{};
  /// What a handler that is called with the exchange itself reads from the body, as JSON; nullptr:
  /// nothing is said.
  json::shape_function body = nullptr;
  /// A body to try it with, JSON; empty: none.
  std::string example{};
  /// The header field by which whoever asks shows an API key; empty: none is asked for.
  std::string key_header{};
  bool deprecated = false;
  /// It stands in no document.
  bool hidden = false;
};

template <class F>
struct described_function {
  F call;
  route_description text;
};

template <class F>
[[nodiscard]] described_function<F> described(F f, route_description text) {
  return {std::move(f), std::move(text)};
}

/// Whether the body of a request with such a head is wanted.
using body_wish = unique_function<bool(const header_list& fields)>;

class route_handler {
 public:
  /// One that is called with the exchange itself.
  template <class F>
    requires(std::invocable<F&, exchange&>)
  route_handler(F f, body_arrival body = body_arrival::whole)
      : route_handler{handler{std::move(f)},
                      body == body_arrival::whole ? unknown_handler : unknown_streaming_handler} {}
  /// `shape` lives for ever.
  route_handler(handler answer, const handler_shape& shape) noexcept
      : answer_{std::move(answer)}, shape_{&shape} {}

  [[nodiscard]] const handler_shape& shape() const noexcept { return *shape_; }
  /// nullptr: nothing is said.
  [[nodiscard]] const std::shared_ptr<const route_description>& text() const noexcept {
    return text_;
  }
  void describe(route_description text) {
    text_ = std::make_shared<const route_description>(std::move(text));
  }

  /// nullptr: the body is wanted whatever the head says.
  [[nodiscard]] const std::shared_ptr<body_wish>& wish() const noexcept { return wish_; }
  void take_body_if(std::shared_ptr<body_wish> wish) noexcept { wish_ = std::move(wish); }

  /// Around the handler: what other sites' scripts may read.
  [[nodiscard]] const std::vector<std::shared_ptr<const cors>>& policies() const noexcept {
    return policies_;
  }
  void obey(std::vector<std::shared_ptr<const cors>> policies) noexcept {
    policies_ = std::move(policies);
  }

  [[nodiscard]] handler take() noexcept { return std::move(answer_); }
  /// What `around` makes of the handler; all that is known of it stays.
  template <class F>
  void wrap(F around) {
    answer_ = around(std::move(answer_));
  }

 private:
  handler answer_;
  const handler_shape* shape_;
  std::shared_ptr<const route_description> text_;
  std::shared_ptr<body_wish> wish_;
  std::vector<std::shared_ptr<const cors>> policies_;
};

namespace detail {

template <class F>
inline constexpr bool is_described = false;
template <class F>
inline constexpr bool is_described<described_function<F>> = true;

}  // namespace detail

template <class F>
[[nodiscard]] route_handler make_route_handler(F f) {
  if constexpr (detail::is_described<F>) {
    route_handler made = make_route_handler(std::move(f.call));
    made.describe(std::move(f.text));
    return made;
  } else if constexpr (std::invocable<F&, exchange&>) {
    return {std::move(f)};
  } else {
    return {make_handler(std::move(f)), handler_shape_of<F>};
  }
}

}  // namespace weft::http

#include <weft/http/route_group.hpp>

#include <memory>
#include <ranges>

#include <weft/http/server.hpp>

namespace weft::http {
namespace {

/// For a body that came whole, with its head: others are refused before they have come. The sender
/// of one that is not wanted is the handler's to refuse.
handler bounded(std::uint64_t body_bytes, std::shared_ptr<body_wish> wish, handler next) {
  return [body_bytes, wish = std::move(wish), next = std::move(next)](exchange& e) mutable {
    if (e.request().body().size() <= body_bytes || (wish && !(*wish)(e.request().headers())))
      return next(e);
    e.reply_problem(status::content_too_large, "the body is longer than this path takes");
  };
}

}  // namespace

route_group route_group::group(std::string_view prefix) const {
  route_group inner = *this;
  inner.prefix_ += prefix;
  return inner;
}

route_group route_group::within(const route_limits& bounds) const {
  route_group inner = *this;
  inner.bounds_ = bounds.over(bounds_);
  return inner;
}

route_group route_group::wrapped(middleware added, std::shared_ptr<const cors> policy) const {
  route_group inner = *this;
  inner.around_.push_back(std::make_shared<middleware>(std::move(added)));
  if (policy != nullptr) inner.policies_.push_back(std::move(policy));
  return inner;
}

route_group route_group::wishing(std::shared_ptr<body_wish> wish) const {
  route_group inner = *this;
  inner.wish_ = std::move(wish);
  return inner;
}

route_group& route_group::route(method which, std::string_view pattern, route_handler answer,
                                lifetime* owner) {
  if (bounds_.body_bytes)
    answer.wrap(
        [&](handler inner) { return bounded(*bounds_.body_bytes, wish_, std::move(inner)); });
  if (wish_) answer.take_body_if(wish_);
  answer.obey(policies_);
  for (const std::shared_ptr<middleware>& each : around_ | std::views::reverse)
    answer.wrap([&each](handler inner) -> handler {
      return [around = each, next = std::move(inner)](exchange& e) mutable { (*around)(e, next); };
    });
  server_->route(which, prefix_ + std::string{pattern}, std::move(answer), owner, bounds_);
  return *this;
}

}  // namespace weft::http

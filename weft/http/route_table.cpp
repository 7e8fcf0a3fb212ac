#include <weft/http/route_table.hpp>

#include <algorithm>
#include <utility>

#include <weft/http/cors.hpp>

namespace weft::http {

route_table::route_table(event_loop& loop, const limits& bounds, lifetime* server) noexcept
    : flushable{&on_flush}, loop_{loop}, bounds_{bounds}, server_{server} {}

route_table::~route_table() {
  if (hook.is_linked()) hook.unlink();
  while (over_.pop_front() != nullptr) {}
}

std::expected<void, std::string> route_table::add(method asked, std::string_view pattern,
                                                  route_handler answer, lifetime* owner,
                                                  const route_limits& bounds) {
  if (auto fits = check_fit(answer.shape(), asked, pattern); !fits) return fits;
  auto made = std::make_unique<route>(*this, asked, pattern, std::move(answer), owner,
                                      keep(bounds.within(bounds_)));
  const bool is_new = free_.empty();
  if (is_new && routes_.size() == routes_.capacity()) {
    routes_.reserve(std::max<std::size_t>(8, 2 * routes_.size()));
    free_.reserve(routes_.capacity());  // so that ending a route allocates nothing
  }
  made->number = is_new ? static_cast<std::uint32_t>(routes_.size()) : free_.back();
  if (auto added = router_.add(asked, pattern, made->number); !added) return added;
  ++changes_;
  has_policies_ = has_policies_ || !made->policies.empty();
  if (owner != nullptr) owner->attach(*made);
  if (is_new) {
    routes_.push_back(std::move(made));
  } else {
    free_.pop_back();
    routes_[made->number] = std::move(made);
  }
  return {};
}

void route_table::append_cors_fields(const route_match& match, std::string_view path,
                                     const cors_question& asked, std::string& lines) const {
  route_match other = match;
  for (std::size_t i = 0; other.outcome != route_outcome::found && i != method_count; ++i)
    if (const auto each = static_cast<method>(i); match.allowed.contains(each))
      router_.find(each, path, other);
  if (other.outcome != route_outcome::found) return;
  for (const std::shared_ptr<const cors>& each : routes_[other.payload]->policies)
    each->append_fields(asked, lines);
}

const limits& route_table::keep(const limits& bounds) {
  if (bounds == bounds_) return bounds_;
  const auto known = std::ranges::find(other_bounds_, bounds);
  return known != other_bounds_.end() ? *known : other_bounds_.emplace_back(bounds);
}

std::vector<route_view> route_table::all() const {
  std::vector<route_view> found;
  for (const std::unique_ptr<route>& each : routes_)
    if (each != nullptr && !each->ended)
      found.push_back({each->asked, each->pattern, each->shape, each->text.get()});
  return found;
}

/// Its owner ends. It may be called just now, by whoever ends that: so it goes at the flush step,
/// when no call is under way, or with its last use.
void route_table::route::on_end(registration& self) noexcept {
  auto& ending = static_cast<route&>(self);
  ending.ended = true;
  ++ending.table.changes_;
  ending.names = ending.table.router_.remove(ending.asked, ending.pattern);
  if (ending.uses != 0) {
    ending.keep_service();
    return;
  }
  ending.table.over_.push_back(ending);
  ending.table.loop_.flush_later(ending.table);
}

void route_table::on_flush(flushable& self) noexcept {
  auto& table = static_cast<route_table&>(self);
  while (route* const gone = table.over_.pop_front())
    if (gone->uses == 0) table.free(*gone);
}

void route_table::free(route& gone) noexcept {
  const std::uint32_t number = gone.number;
  routes_[number].reset();
  free_.push_back(number);
}

route_table::use::use(route_table& in, const route_match& found)
    : in_{in}, route_{*in.routes_[found.payload]} {
  // Whatever a use needs is there then when the service ends, where nothing may fail.
  if (route_.serves != nullptr) route_.serves->prepare_use();
  if (route_.ended) route_.keep_service();
  ++route_.uses;
}

route_table::use::~use() {
  if (--route_.uses != 0 || !route_.ended) return;
  if (route_.over.is_linked()) route_.over.unlink();
  const std::optional<lifetime::use> kept = std::exchange(route_.kept, std::nullopt);
  in_.free(route_);  // before the service may go
}

lifetime* route_table::use::owner() const noexcept {
  return route_.serves != nullptr ? route_.serves : in_.server_;
}

}  // namespace weft::http

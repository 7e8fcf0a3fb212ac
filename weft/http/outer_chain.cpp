#include <weft/http/outer_chain.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <weft/http/cors.hpp>

namespace weft::http {

outer_chain::outer_chain(event_loop& loop, handler innermost) noexcept
    : flushable{&on_flush}, loop_{loop}, innermost_{std::move(innermost)} {}

outer_chain::~outer_chain() {
  if (hook.is_linked()) hook.unlink();
}

void outer_chain::add(middleware around, lifetime* owner, std::shared_ptr<const cors> policy) {
  auto made = std::make_unique<link>(*this, std::move(around), owner, std::move(policy));
  links_.reserve(links_.size() + 1);
  ended_.reserve(links_.size() + ended_.size() + 1);  // so that ending allocates nothing
  if (owner != nullptr) {
    owner->prepare_use();
    owner->attach(*made);
  }
  (links_.empty() ? first_ : links_.back()->inner) = made.get();
  links_.push_back(std::move(made));
}

bool outer_chain::has_policies() const noexcept {
  return std::ranges::any_of(links_, [](const auto& each) { return each->policy != nullptr; });
}

void outer_chain::append_cors_fields(const cors_question& asked, std::string& lines) const {
  for (const std::unique_ptr<link>& each : links_)
    if (each->policy != nullptr) each->policy->append_fields(asked, lines);
}

/// Whoever is in the midst of a call finds everything as it was.
void outer_chain::link::on_end(registration& self) noexcept {
  auto& ending = static_cast<link&>(self);
  outer_chain& chain = ending.chain;
  const auto at = std::ranges::find(chain.links_, &ending, &std::unique_ptr<link>::get);
  (at == chain.links_.begin() ? chain.first_ : (*std::prev(at))->inner) = ending.inner;
  if (!chain.uses_.empty()) ending.keep_service();
  chain.ended_.push_back(std::move(*at));
  chain.links_.erase(at);
  chain.loop_.flush_later(chain);
}

/// By then no call is under way, and whoever waits holds a use.
void outer_chain::on_flush(flushable& self) noexcept {
  auto& chain = static_cast<outer_chain&>(self);
  for (const std::unique_ptr<link>& each : chain.ended_)
    if (!each->over_after) each->over_after = chain.next_use_;
  const auto over = std::ranges::partition(
      chain.ended_, [&chain](const std::unique_ptr<link>& each) { return chain.is_held(*each); });
  for (std::unique_ptr<link>& each : over) {
    const std::optional<lifetime::use> kept = std::exchange(each->kept, std::nullopt);
    each.reset();  // before the service may go
  }
  chain.ended_.erase(over.begin(), over.end());
}

bool outer_chain::is_held(const link& ended) noexcept {
  const use* const oldest = uses_.front();
  return oldest != nullptr && oldest->number_ < *ended.over_after;
}

outer_chain::use::use(outer_chain& in) noexcept : in_{in}, number_{in.next_use_++} {
  in_.uses_.push_back(*this);
  // One that has ended in this turn may have been passed before.
  for (const std::unique_ptr<link>& each : in_.ended_)
    if (!each->over_after) each->keep_service();
}

outer_chain::use::~use() {
  hook_.unlink();
  if (!in_.ended_.empty()) in_.loop_.flush_later(in_);
}

}  // namespace weft::http

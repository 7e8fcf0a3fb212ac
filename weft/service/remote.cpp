#include <weft/service/remote.hpp>

#include <utility>

#include <weft/base/assert.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft::detail {
namespace {

/// Those of all loops that this thread runs: few.
constinit thread_local remote_target* opened = nullptr;

}  // namespace

void remote_target::open(const event_loop& loop) noexcept {
  WEFT_ASSERT(loop_ == nullptr, "a service is offered to other shards once");
  loop_ = &loop;
  next_ = std::exchange(opened, this);
}

void remote_target::close() noexcept {
  if (std::exchange(loop_, nullptr) == nullptr) return;
  remote_target** at = &opened;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

remote_target* remote_target::find(const interface_key& interface) noexcept {
  const event_loop* const here = &event_loop::current();
  for (remote_target* each = opened; each != nullptr; each = each->next_)
    if (each->loop_ == here && each->interface_ == &interface) return each;
  return nullptr;
}

}  // namespace weft::detail

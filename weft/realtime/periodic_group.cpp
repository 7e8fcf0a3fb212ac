#include <weft/realtime/periodic_group.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include <weft/loop/event_loop.hpp>

namespace weft::realtime {
namespace {

/// More than one only where a simulated world runs several loops on a thread.
thread_local std::vector<std::unique_ptr<periodic_group>> groups_here;

}  // namespace

periodic_member::periodic_member(event_loop& loop, const periodic& whose)
    : task{whose}, group{periodic_group::join(loop, *this)} {}

periodic_member::~periodic_member() { group.leave(*this); }

periodic_group::periodic_group(event_loop& loop) noexcept : runnable{&on_run}, loop_{loop} {
  loop_.watch_pieces(true);
}

periodic_group::~periodic_group() { loop_.watch_pieces(false); }

periodic_group* periodic_group::find(const event_loop& loop) noexcept {
  for (const auto& each : groups_here)
    if (&each->loop_ == &loop) return each.get();
  return nullptr;
}

periodic_group& periodic_group::join(event_loop& loop, periodic_member& member) {
  periodic_group* group = find(loop);
  if (group == nullptr)
    group = groups_here.emplace_back(std::make_unique<periodic_group>(loop)).get();
  group->members_.push_back(member);
  return *group;
}

/// Nobody is in the line by then: who is has a periodic.
void periodic_group::leave(periodic_member& member) noexcept {
  members_.erase(member);
  if (members_.empty())
    std::erase_if(groups_here, [this](const auto& each) { return each.get() == this; });
}

void periodic_group::release(released_task& task) noexcept {
  if (line_.empty()) loop_.schedule(*this, priority::critical);
  line_.insert(std::ranges::find_if(
                   line_, [&](const released_task& each) { return each.deadline > task.deadline; }),
               task);
}

void periodic_group::on_run(runnable& self) noexcept {
  auto& group = static_cast<periodic_group&>(self);
  released_task* const first = group.line_.pop_front();
  if (!group.line_.empty()) group.loop_.schedule(group, priority::critical);
  first->resume(*first);
}

}  // namespace weft::realtime

#include <weft/realtime/periodic_group.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <weft/base/thread_owned.hpp>
#include <weft/realtime/allocation_guard.hpp>
#include <weft/realtime/utilisation.hpp>

namespace weft::realtime {
namespace {

/// More than one only where a simulated world runs several loops on a thread.
struct groups_here {
  std::vector<std::unique_ptr<periodic_group>> all;
};

}  // namespace

periodic_member::periodic_member(event_loop& loop, const periodic& whose)
    : task{whose}, group{periodic_group::join(loop, *this)} {}

periodic_member::~periodic_member() { group.leave(*this); }

periodic_group::periodic_group(event_loop& loop) noexcept
    : runnable{&on_run}, flushable{&on_turn_end}, loop_{loop} {
  loop_.watch_pieces(&pieces_);
}

periodic_group::~periodic_group() {
  if (flushable::hook.is_linked()) flushable::hook.unlink();
  loop_.watch_pieces(nullptr);
}

periodic_group* periodic_group::find(const event_loop& loop) noexcept {
  const groups_here* const here = thread_owned<groups_here>::find();
  if (here == nullptr) return nullptr;
  for (const auto& each : here->all)
    if (&each->loop_ == &loop) return each.get();
  return nullptr;
}

periodic_group& periodic_group::join(event_loop& loop, periodic_member& member) {
  periodic_group* group = find(loop);
  if (group == nullptr)
    group = thread_owned<groups_here>::here()
                .all.emplace_back(std::make_unique<periodic_group>(loop))
                .get();
  group->members_.push_back(member);
  return *group;
}

/// Nobody is in the line by then: who is has a periodic.
void periodic_group::leave(periodic_member& member) noexcept {
  members_.erase(member);
  if (!members_.empty()) return;
  std::erase_if(thread_owned<groups_here>::find()->all,
                [this](const auto& each) { return each.get() == this; });
}

void periodic_group::hold_back(released_task& task) noexcept {
  held_.push_back(task);
  pieces_.expect(task.due);
  loop_.flush_later(*this);
}

void periodic_group::look_at_utilisation() noexcept {
  if (has_warned_) return;
  is_to_look_ = true;
  loop_.flush_later(*this);
}

void periodic_group::release(released_task& task) noexcept {
  if (task.hook.is_linked()) held_.erase(task);
  if (line_.empty()) loop_.schedule(*this, priority::critical);
  pieces_.hold(true);
  line_.insert(std::ranges::find_if(
                   line_, [&](const released_task& each) { return each.deadline > task.deadline; }),
               task);
}

void periodic_group::on_run(runnable& self) noexcept {
  auto& group = static_cast<periodic_group&>(self);
  released_task* const first = group.line_.pop_front();
  group.pieces_.hold(!group.line_.empty());
  if (!group.line_.empty()) group.loop_.schedule(group, priority::critical);
  first->resume(*first);
}

/// A warning allocates: which is nobody's whose allocations are watched.
void periodic_group::on_turn_end(flushable& self) noexcept {
  auto& group = static_cast<periodic_group&>(self);
  group.pieces_.expect_nothing();
  while (released_task* const task = group.held_.pop_front()) task->arm(*task);
  if (!std::exchange(group.is_to_look_, false)) return;
  const allocation_guard unseen{on_allocation::allow};
  warn_if_too_much(group.loop_);
}

}  // namespace weft::realtime

#include <weft/loop/leftovers.hpp>

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <map>
#include <string_view>

#include <weft/base/format.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/task_dump.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft {
namespace {

/// A log is to be read: of each sort what is beyond so many lines is counted.
constexpr std::size_t lines_most = 32;
constexpr std::size_t slots_most = 32;

std::string counted(std::size_t count, std::string_view what) {
  return weft::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// What is left of one sort, equal ones together, in the order in which they were noted.
class group_list {
 public:
  struct group {
    std::string text;
    std::size_t count = 0;
    time_point first = time_point::max();  // due, if it is something that will be
  };

  void note(std::string text, time_point due = time_point::max()) {
    const auto known = std::ranges::find(groups_, text, &group::text);
    if (known == groups_.end() && groups_.size() == lines_most) {
      ++others_;
      return;
    }
    group& in = known != groups_.end() ? *known : groups_.emplace_back(std::move(text));
    ++in.count;
    in.first = std::min(in.first, due);
  }

  [[nodiscard]] const std::vector<group>& groups() const noexcept { return groups_; }
  [[nodiscard]] std::size_t others() const noexcept { return others_; }

 private:
  std::vector<group> groups_;
  std::size_t others_ = 0;
};

using lines = std::vector<std::string>;

void tell_tasks(const std::vector<await_chain>& tasks, lines& to) {
  group_list places;
  for (const await_chain& task : tasks) places.note(describe_briefly(task));
  const auto add = [&](std::size_t count, std::string_view where) {
    to.push_back(
        weft::format("  {} wait{} in {}", counted(count, "task"), count == 1 ? "s" : "", where));
  };
  for (const group_list::group& each : places.groups()) add(each.count, each.text);
  if (places.others() != 0) add(places.others(), "other places");
}

std::string name_of(const timer& t) {
  std::string name{t.kind().name};
  if (t.kind().owner == nullptr) return name;
  const auto waits =
      std::coroutine_handle<detail::promise_base>::from_address(t.kind().owner(t).address());
  return name + " in " + describe(waits.promise().waits_at);
}

void tell_timers(event_loop& of, lines& to) {
  group_list timers;
  of.timers().for_each([&](const timer& each, time_point due) { timers.note(name_of(each), due); });
  for (const group_list::group& each : timers.groups()) {
    const std::chrono::duration<double> left = std::max(each.first - of.now(), duration::zero());
    to.push_back(weft::format("  {}: {}, {}due in {:.3f} s", counted(each.count, "timer"),
                              each.text, each.count == 1 ? "" : "the first ", left.count()));
  }
  if (timers.others() != 0)
    to.push_back(weft::format("  {} of other sorts", counted(timers.others(), "timer")));
}

std::string listed(const std::vector<std::uint32_t>& slots) {
  std::string text = slots.size() == 1 ? "slot " : "slots ";
  for (std::size_t i = 0; i < std::min(slots.size(), slots_most); ++i)
    text += weft::format("{}{}", i == 0 ? "" : ", ", slots[i]);
  return slots.size() <= slots_most
             ? text
             : text + weft::format(" and {} more", slots.size() - slots_most);
}

/// By the descriptor whose input they are; -1: what the program holds. Those that the kernel has
/// been given in advance are nobody's fault.
using held_buffers = std::map<int, std::vector<std::uint32_t>>;

held_buffers buffers_of(event_loop& of) {
  std::map<std::uint32_t, int> lent;
  for (const lent_buffer& each : of.io().lent_buffers()) lent.emplace(each.slot, each.fd);
  held_buffers held;
  for (const std::uint32_t slot : of.buffers().slots_in_use()) {
    const auto with = lent.find(slot);
    if (with == lent.end() || with->second >= 0)
      held[with == lent.end() ? -1 : with->second].push_back(slot);
  }
  return held;
}

void tell_buffers(const held_buffers& held, lines& to) {
  std::size_t told = 0;
  std::size_t others = 0;
  for (const auto& [fd, slots] : held) {
    if (++told > lines_most) {
      others += slots.size();
      continue;
    }
    to.push_back(weft::format(
        "  {} of {} bytes {}: {}", counted(slots.size(), "buffer"), buffer_pool::slot_bytes,
        fd < 0 ? "that the program holds" : weft::format("with unread input of descriptor {}", fd),
        listed(slots)));
  }
  if (others != 0) to.push_back(weft::format("  {} of others", counted(others, "buffer")));
}

std::string name_of(const waiting_operation& op) {
  return op.fd < 0 ? std::string{to_string(op.kind)}
                   : weft::format("{} of descriptor {}", to_string(op.kind), op.fd);
}

void tell_operations(const std::vector<waiting_operation>& operations, lines& to) {
  group_list groups;
  for (const waiting_operation& each : operations) groups.note(name_of(each));
  for (const group_list::group& each : groups.groups())
    to.push_back(weft::format("  {}: {}", counted(each.count, "operation"), each.text));
  if (groups.others() != 0)
    to.push_back(weft::format("  {} of other descriptors", counted(groups.others(), "operation")));
}

}  // namespace

std::vector<std::string> leftovers(event_loop& of) {
  const std::vector<await_chain> tasks = unfinished_tasks(of);
  const std::size_t timers = of.timers().armed_count();
  const held_buffers buffers = buffers_of(of);
  const std::vector<waiting_operation> operations = of.io().waiting_operations();
  if (tasks.empty() && timers == 0 && buffers.empty() && operations.empty()) return {};
  std::size_t buffer_count = 0;
  for (const auto& [fd, slots] : buffers) buffer_count += slots.size();
  lines all{weft::format("shard {} has left: {}, {}, {}, {}", of.shard(),
                         counted(tasks.size(), "task"), counted(timers, "timer"),
                         counted(buffer_count, "buffer"), counted(operations.size(), "operation"))};
  tell_tasks(tasks, all);
  tell_timers(of, all);
  tell_buffers(buffers, all);
  tell_operations(operations, all);
  return all;
}

}  // namespace weft

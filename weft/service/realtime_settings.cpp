#include <weft/service/realtime_settings.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/service/config_printer.hpp>

namespace weft::detail {
namespace {

realtime::thread_setup setup_of(const realtime_options& wanted, unsigned shard) {
  const bool is_first = shard == 0;
  realtime::thread_setup setup{.policy = wanted.policy,
                               .priority = wanted.priority,
                               .budget = wanted.budget,
                               .lock_memory = wanted.lock_memory && is_first,
                               .stack_bytes = wanted.stack_bytes,
                               .heap_bytes = wanted.heap_bytes,
                               .timer_slack = wanted.timer_slack,
                               .keep_processors_awake = wanted.keep_processors_awake && is_first};
  if (!wanted.cpus.empty()) setup.cpu = wanted.cpus[shard % wanted.cpus.size()];
  return setup;
}

realtime::setup_effect watched_allocations() {
  realtime::setup_effect effect{.wish = "allocations watched",
                                .is_applied = realtime::allocation_guard::is_watched()};
  if (effect.is_applied) return effect;
  effect.why = "this program's malloc tells nobody";
  effect.remedy = "link it with weft::realtime_guard";
  return effect;
}

auto lengths_of(realtime::deadline_budget& budget) noexcept {
  return std::array{std::pair{"realtime.budget.runtime", &budget.runtime},
                    std::pair{"realtime.budget.deadline", &budget.deadline},
                    std::pair{"realtime.budget.period", &budget.period}};
}

std::string unused(const std::string& path, std::string_view value, std::string_view policy,
                   const config& given) {
  return weft::format(
      "{}: {} is {}, which only policy \"{}\" uses: set realtime.policy to that, or leave it out",
      given.origin_of(path), path, value, policy);
}

/// What a program has set for its own policy is no fault where somebody asks for another.
void forget_unused(realtime_options& wanted, const config& given) {
  const auto is_of_program = [&](const std::string& path) {
    return given.origin_of(path) == "program";
  };
  if (given.origin_of("realtime.policy") == "default") return;
  if (wanted.policy != realtime::scheduling::fifo && is_of_program("realtime.priority"))
    wanted.priority = realtime_options{}.priority;
  if (wanted.policy == realtime::scheduling::deadline) {
    if (is_of_program("realtime.cpus")) wanted.cpus.clear();
    return;
  }
  for (const auto& [path, length] : lengths_of(wanted.budget))
    if (is_of_program(path)) *length = duration::zero();
}

}  // namespace

std::string wrong_together(realtime_options& wanted, const config& given) {
  forget_unused(wanted, given);
  using realtime::scheduling;
  if (wanted.policy != scheduling::fifo && wanted.priority != realtime_options{}.priority)
    return unused("realtime.priority", std::to_string(wanted.priority), "fifo", given);
  if (wanted.policy != scheduling::deadline) {
    for (const auto& [path, length] : lengths_of(wanted.budget))
      if (*length != duration::zero())
        return unused(path, option_text(option_type_of<duration>, length), "deadline", given);
    return {};
  }
  const realtime::deadline_budget& budget = wanted.budget;
  if (!wanted.cpus.empty())
    return "realtime.cpus: a thread of policy \"deadline\" may not be pinned: leave them out";
  const bool is_in_order = budget.runtime > duration::zero() && budget.runtime <= budget.deadline &&
                           budget.deadline <= budget.period;
  return is_in_order ? std::string{}
                     : "realtime.budget: policy \"deadline\" needs runtime, deadline and period, "
                       "none longer than the next";
}

realtime::applied_setup apply_on_shard(const realtime_options& wanted, unsigned shard) {
  realtime::applied_setup made = realtime::apply(setup_of(wanted, shard));
  if (wanted.allocations != realtime::on_allocation::allow && shard == 0)
    made.effects.push_back(watched_allocations());
  for (const realtime::setup_effect& each : made.effects) {
    const std::string line = weft::format("shard {}: {}", shard, to_line(each));
    each.is_applied ? log::info(line) : log::warning(line);
  }
  return made;
}

void serving_guard::begin() noexcept {
  if (rule_ != realtime::on_allocation::allow) guard_.emplace(rule_);
}

void serving_guard::end() {
  if (!guard_) return;
  const std::uint64_t allocations = guard_->allocations();
  const std::uint64_t bytes = guard_->bytes();
  guard_.reset();
  if (!realtime::allocation_guard::is_watched()) return;
  log::info(weft::format("shard {}: {} allocation{} since the start, of {} bytes", shard_,
                         allocations, allocations == 1 ? "" : "s", bytes));
}

}  // namespace weft::detail

#include <weft/realtime/periodic.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <weft/base/assert.hpp>
#include <weft/loop/backend.hpp>
#include <weft/realtime/utilisation.hpp>

namespace weft::realtime {
namespace {

void record_length(telemetry::distribution& into, duration length) {
  into.record(static_cast<std::uint64_t>(std::max(length, duration::zero()).count()));
}

/// So that no sum of a start, a phase and periods is more than a time_point holds.
constexpr duration longest = std::chrono::hours{24} * 365 * 50;

periodic_options checked(periodic_options given) {
  if (given.period <= duration::zero())
    throw std::invalid_argument{"the period of a periodic task is to be more than zero"};
  if (std::min({given.deadline, given.phase, given.execution}) < duration::zero())
    throw std::invalid_argument{
        "the deadline, the phase and the execution of a periodic task are not to be less than "
        "zero"};
  const duration start = given.start ? given.start->time_since_epoch() : duration::zero();
  if (start < duration::zero() || std::max({given.period, given.phase, start}) > longest)
    throw std::invalid_argument{
        "the period, the phase and the start of a periodic task are to be at most fifty years, and "
        "the start not before the clock's"};
  if (given.deadline == duration::zero()) given.deadline = given.period;
  return given;
}

}  // namespace

periodic::periodic(event_loop& loop, const periodic_options& options)
    : loop_{loop},
      options_{checked(options)},
      throttling_{limits_of(kernel_facts::read())},
      member_{loop, *this} {
  record_.latency.prepare();
  record_.response.prepare();
  record_.execution.prepare();
  throttling_.note(loop_.io().now(), thread_usage::read_processor());
  warn_if_too_much(loop_);
}

periodic::next_wait periodic::next() noexcept { return next_wait{*this}; }

time_point periodic::due_at(std::uint64_t number) const noexcept {
  return *first_due_ + options_.period * static_cast<duration::rep>(number);
}

/// At least one is due.
std::uint64_t periodic::last_due_by(time_point now) const noexcept {
  return static_cast<std::uint64_t>((now - *first_due_) / options_.period);
}

/// What is measured ends here: to tell of it is not the run's.
void periodic::end_run() {
  if (!runs_) return;
  runs_ = false;
  const duration processor = is_measured() ? thread_usage::read_processor() : duration{};
  const time_point ended = loop_.io().now();
  last_begun_ = now_.woken;
  last_ended_ = ended;
  const duration lasted = ended - now_.woken;
  throttling_.note(ended, processor);
  shares_.work = std::min(processor - begun_with_.processor, lasted);
  shares_.absence = lasted - shares_.work;
  deadline_miss run{.task = options_.name,
                    .number = now_.number,
                    .due = now_.due,
                    .deadline = options_.deadline,
                    .shares = shares_,
                    .before = before_};
  const bool is_miss = run.response() > options_.deadline;
  if (is_miss) {
    explain(run);
    ++record_.misses;
  } else {
    in_time_ += shares_;
  }
  ++record_.runs;
  record_length(record_.latency, now_.latency());
  record_length(record_.response, run.response());
  const std::uint64_t longest_before = record_.execution.max();
  record_length(record_.execution, shares_.work);
  if (record_.execution.max() > longest_before) member_.group.look_at_utilisation();
  if (is_miss && tell_miss_) tell_miss_(run);
}

void periodic::explain(deadline_miss& run) const noexcept {
  if (is_measured()) {
    const std::optional<duration> queued = member_.group.queue().so_far();
    if (queued && queued_before_) run.queued = *queued - *queued_before_;
    run.used = thread_usage::read() - begun_with_;
    run.used.processor = run.shares.work;
  }
  run.cause = find_cause(run, usual());
  // The kernel may not have counted the wait yet.
  const bool is_away = run.cause == miss_cause::preempted || run.cause == miss_cause::stolen;
  if (!is_away && run.cause != miss_cause::late_wakeup) return;
  const duration away = is_away ? run.shares.absence : run.shares.wakeup;
  run.throttled_by = throttling_.find(away, run.shares.work);
  if (run.throttled_by.by != throttle::none) run.cause = miss_cause::throttled;
}

/// Which release comes next.
void periodic::plan(time_point now) noexcept {
  if (!first_due_) first_due_ = options_.start.value_or(now) + options_.phase;
  std::uint64_t number = next_number_;
  is_overrun_ = due_at(number) < now;
  if (options_.overrun != overrun_policy::catch_up && is_overrun_) {
    number = last_due_by(now);
    if (options_.overrun == overrun_policy::skip && due_at(number) < now) ++number;
  }
  now_ = {.number = number, .due = due_at(number), .skipped = number - next_number_};
  before_.own_run = own_run_since(now_.due);
}

duration periodic::own_run_since(time_point due) const noexcept {
  return std::max(last_ended_ - std::max(due, last_begun_), duration::zero());
}

void periodic::begin_run(const wakeup& by) noexcept {
  now_.woken = loop_.io().now();
  next_number_ = now_.number + 1;
  record_.skipped += now_.skipped;
  shares_ = {};
  shares_.wakeup = by.was_waiting ? std::max(by.seen - now_.due, duration::zero()) : duration{};
  shares_.predecessors = now_.latency() - shares_.wakeup;
  before_.longest = member_.group.pieces().longest_since(now_.due);
  before_.count = member_.group.pieces().count_since(now_.due);
  if (is_measured()) {
    begun_with_ = thread_usage::read();
    queued_before_ = member_.group.queue().so_far();
  }
  throttling_.note(now_.woken, begun_with_.processor);
  runs_ = true;
}

run_shares periodic::usual() const noexcept {
  const std::uint64_t in_time = record_.runs - record_.misses;
  return in_time == 0 ? run_shares{} : in_time_ / static_cast<std::int64_t>(in_time);
}

bool periodic::next_wait::begin(std::coroutine_handle<> waiting, const environment& env) noexcept {
  WEFT_ASSERT(!of_.is_awaited_, "a periodic is one task's: another waits for its release");
  of_.end_run();
  if (env.stop.stop_requested()) {
    outcome_ = fail(errc::cancelled);
    return false;
  }
  of_.plan(of_.loop_.io().now());
  waiting_ = waiting;
  of_.is_awaited_ = true;
  deadline_first_ = env.until.when() < of_.now_.due;
  due = std::min(of_.now_.due, env.until.when());
  env.stop.subscribe(*this);
  if (of_.is_overrun_)
    of_.member_.group.hold_back(*this);
  else
    on_arm(*this);
  return true;
}

result<release> periodic::next_wait::await_resume() {
  of_.is_awaited_ = false;
  if (!outcome_) return fail(outcome_.error());
  of_.begin_run(by_);
  return of_.now_;
}

void periodic::next_wait::wake(result<void> outcome) noexcept {
  stop_registration::disarm();
  of_.loop_.timers().disarm(*this);
  outcome_ = outcome;
  deadline = saturated_sum(of_.now_.due, of_.options_.deadline);
  of_.member_.group.release(*this);
}

void periodic::next_wait::on_timer(timer& self) noexcept {
  auto& waiter = static_cast<next_wait&>(self);
  event_loop& loop = waiter.of_.loop_;
  waiter.by_ = {.seen = loop.now(), .was_waiting = loop.has_waited()};
  waiter.wake(waiter.deadline_first_ ? result<void>{fail(errc::timed_out)} : result<void>{});
}

void periodic::next_wait::on_stop(stop_registration& self) noexcept {
  static_cast<next_wait&>(self).wake(fail(errc::cancelled));
}

void periodic::next_wait::on_arm(released_task& self) noexcept {
  auto& waiter = static_cast<next_wait&>(self);
  waiter.of_.loop_.timers().arm_exactly(waiter, waiter.due);
}

void periodic::next_wait::on_resume(released_task& self) noexcept {
  detail::resume(static_cast<next_wait&>(self).waiting_);
}

}  // namespace weft::realtime

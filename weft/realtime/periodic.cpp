#include <weft/realtime/periodic.hpp>

#include <algorithm>
#include <stdexcept>

#include <weft/base/log.hpp>
#include <weft/loop/backend.hpp>
#include <weft/realtime/utilisation.hpp>

namespace weft::realtime {
namespace {

void record_length(telemetry::distribution& into, duration length) {
  into.record(static_cast<std::uint64_t>(std::max(length, duration::zero()).count()));
}

periodic_options checked(periodic_options given) {
  if (given.period <= duration::zero())
    throw std::invalid_argument{"the period of a periodic task is to be more than zero"};
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
  throttling_.note(loop_.io().now(), thread_usage::read().processor);
  if (!utilisation_of(loop_).fits()) log::warning(describe_utilisation(loop_));
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
  const thread_usage usage = thread_usage::read();
  const thread_usage used = usage - begun_with_;
  const time_point ended = loop_.io().now();
  const duration lasted = ended - now_.woken;
  throttling_.note(ended, usage.processor);
  shares_.work = std::min(used.processor, lasted);
  shares_.absence = lasted - shares_.work;
  deadline_miss run{.task = options_.name,
                    .number = now_.number,
                    .due = now_.due,
                    .deadline = options_.deadline,
                    .shares = shares_,
                    .used = used,
                    .predecessor = predecessor_};
  const bool is_miss = run.response() > options_.deadline;
  if (is_miss) {
    explain(run);
    ++record_.misses;
  }
  ++record_.runs;
  total_ += shares_;
  record_length(record_.latency, now_.latency());
  record_length(record_.response, run.response());
  record_length(record_.execution, shares_.work);
  if (is_miss && tell_miss_) tell_miss_(run);
}

void periodic::explain(deadline_miss& run) const noexcept {
  run.cause = find_cause(run.shares, usual(), run.used);
  const bool is_asleep_or_away =
      run.cause == miss_cause::preempted || run.cause == miss_cause::late_wakeup;
  if (!is_asleep_or_away) return;
  const duration away = std::max(run.shares.absence, run.shares.wakeup);
  run.throttled_by = throttling_.find(away, run.shares.work);
  if (run.throttled_by.by != throttle::none) run.cause = miss_cause::throttled;
}

/// Which release comes next.
void periodic::plan(time_point now) noexcept {
  if (!first_due_) first_due_ = now + options_.phase;
  std::uint64_t number = next_number_;
  if (options_.overrun != overrun_policy::catch_up && due_at(number) < now) {
    number = last_due_by(now);
    if (options_.overrun == overrun_policy::skip && due_at(number) < now) ++number;
  }
  now_ = {.number = number, .due = due_at(number), .skipped = number - next_number_};
}

void periodic::begin_run(const wakeup& by) noexcept {
  now_.woken = loop_.io().now();
  next_number_ = now_.number + 1;
  record_.skipped += now_.skipped;
  shares_ = {};
  shares_.wakeup = by.was_waiting ? std::max(by.seen - now_.due, duration::zero()) : duration{};
  shares_.predecessors = now_.latency() - shares_.wakeup;
  const event_loop::piece& since = loop_.longest_piece();
  predecessor_ =
      since.lasted > by.longest_before.lasted ? since.resumed_at : by.longest_before.resumed_at;
  begun_with_ = thread_usage::read();
  runs_ = true;
}

run_shares periodic::usual() const noexcept {
  return record_.runs == 0 ? run_shares{} : total_ / static_cast<std::int64_t>(record_.runs);
}

bool periodic::next_wait::begin(std::coroutine_handle<> waiting, const environment& env) noexcept {
  of_.end_run();
  if (env.stop.stop_requested()) {
    outcome_ = fail(errc::cancelled);
    return false;
  }
  of_.plan(of_.loop_.io().now());
  waiting_ = waiting;
  deadline_first_ = env.until.when() < of_.now_.due;
  env.stop.subscribe(*this);
  of_.loop_.timers().arm_exactly(*this, std::min(of_.now_.due, env.until.when()));
  return true;
}

result<release> periodic::next_wait::await_resume() {
  if (!outcome_) return fail(outcome_.error());
  of_.begin_run(by_);
  return of_.now_;
}

void periodic::next_wait::wake(result<void> outcome) noexcept {
  stop_registration::disarm();
  of_.loop_.timers().disarm(*this);
  outcome_ = outcome;
  deadline = of_.now_.due + of_.options_.deadline;
  of_.member_.group.release(*this);
}

void periodic::next_wait::on_timer(timer& self) noexcept {
  auto& waiter = static_cast<next_wait&>(self);
  event_loop& loop = waiter.of_.loop_;
  waiter.by_ = {
      .seen = loop.now(), .was_waiting = loop.has_waited(), .longest_before = loop.longest_piece()};
  waiter.wake(waiter.deadline_first_ ? result<void>{fail(errc::timed_out)} : result<void>{});
}

void periodic::next_wait::on_stop(stop_registration& self) noexcept {
  static_cast<next_wait&>(self).wake(fail(errc::cancelled));
}

void periodic::next_wait::on_resume(released_task& self) noexcept {
  detail::resume(static_cast<next_wait&>(self).waiting_);
}

}  // namespace weft::realtime

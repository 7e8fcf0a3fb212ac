#include <weft/service/service_changes.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/service/service_call.hpp>

namespace weft::detail {
namespace {

result<void> refuse(const std::string& why) {
  log::warning(why);
  return fail(errc::invalid_argument);
}

void keep_first(result<void>& first, const result<void>& next) noexcept {
  if (first) first = next;
}

/// A turn may be given to who has been asked to stop meanwhile.
result<void> still_wanted(const environment& asking) noexcept {
  if (asking.stop.stop_requested()) return fail(errc::cancelled);
  if (asking.until.passed(asking.runs_on->now())) return fail(errc::timed_out);
  return {};
}

/// Of those who wait for what is asked for, the service that asks and who has called it, one that
/// `is` says; nullptr: none.
template <class Is>
const lifetime* who_waits(const environment& asking, Is is) {
  for (const environment* at = &asking; at != nullptr; at = at->called_by)
    if (at->owner != nullptr && is(at->owner)) return at->owner;
  return nullptr;
}

std::string_view name_of(const environment& asking) {
  const lifetime* const one = who_waits(asking, [](const lifetime*) { return true; });
  return one == nullptr ? "somebody" : one->name();
}

void tell_unclean(const service_record& service, const result<void>& down) {
  if (!down)
    log::warning(
        weft::format("{} did not stop cleanly: {}", service.title(), down.error().message()));
}

/// What a wait of somebody obeys, who may be to end meanwhile: his end would wait for him, and he
/// for it.
class until_owner_ends : private registration {
 public:
  explicit until_owner_ends(const environment& asking) noexcept
      : registration{&on_end}, stop_{asking.stop}, obeyed_{asking} {
    obeyed_.stop = stop_.token();
    if (asking.owner != nullptr) asking.owner->attach(*this);
  }
  [[nodiscard]] const environment& obeyed() const noexcept { return obeyed_; }

 private:
  static void on_end(registration& self) noexcept {
    static_cast<until_owner_ends&>(self).stop_.request_stop();
  }

  stop_source stop_;
  environment obeyed_;
};

}  // namespace

/// Also of a stop that there was no memory for, and that is to be asked for again.
class service_changes::stop_count {
 public:
  explicit stop_count(unsigned& stops) noexcept : stops_{stops} { ++stops_; }
  stop_count(const stop_count&) = delete;
  stop_count& operator=(const stop_count&) = delete;
  ~stop_count() { --stops_; }

 private:
  unsigned& stops_;
};

/// What those who are called by a change obey, and how stop_all() hastens it.
struct service_changes::under_way {
  under_way(service_changes& changes, const environment& asking) noexcept
      : starts_cut{asking.stop}, of{changes} {
    starts.until = stops.until = asking.until;
    starts.runs_on = stops.runs_on = asking.runs_on;
    starts.called_by = stops.called_by = &asking;
    starts.trace = stops.trace = asking.trace;
    starts.stop = starts_cut.token();
    stops.stop = stops_cut.token();
    of.now_ = this;
  }
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;
  ~under_way() { of.now_ = nullptr; }

  stop_source starts_cut;
  stop_source stops_cut;  // not by who asked: half a stop helps nobody
  environment starts;
  environment stops;
  service_changes& of;
};

std::string_view service_changes::stopping() const noexcept {
  const service_kind* const now = stopping_.load(std::memory_order_acquire);
  return now == nullptr ? std::string_view{} : now->name;
}

/// Within a start() or stop() that the change under way waits for.
bool service_changes::is_awaited(const environment& asking) const noexcept {
  if (now_ == nullptr) return false;
  for (const environment* at = &asking; at != nullptr; at = at->called_by)
    if (at == &now_->starts || at == &now_->stops) return true;
  return false;
}

/// Nobody may wait for a change who has not started: if its start fails, it is to end.
result<void> service_changes::refuse_early(const environment& asking) {
  const lifetime* const early =
      who_waits(asking, [this](const lifetime* one) { return is_made(one, last_started_); });
  if (early == nullptr) return {};
  return refuse(
      weft::format("{0} asks for a change, which may have to end it, before it has started: "
                   "co_await wait_for<{0}>() first",
                   early->name()));
}

/// Or in another task of a service whose start() or stop() is under way, which may wait for it.
bool service_changes::is_called(const environment& asking) const noexcept {
  return is_awaited(asking) ||
         (calling_ != nullptr &&
          who_waits(asking, [this](const lifetime* one) { return one == calling_; }) != nullptr);
}

bool service_changes::is_made(const lifetime* owner, service_record* after) noexcept {
  for (service_record* each = graph_.made_after(after); each != nullptr;
       each = graph_.made_after(each))
    if (each == owner) return true;
  return false;
}

void service_changes::log_complaints() const {
  for (const std::string& each : graph_.complaints()) log::error(each);
}

task<result<void>> service_changes::start_all() {
  const environment& asking = co_await this_task::environment();
  if (is_called(asking))
    co_return refuse(weft::format("{} waits for a start that waits for it", name_of(asking)));
  if (stops_ != 0) co_return fail(errc::closed);
  const auto turn = co_await turn_.lock();
  if (!turn) co_return fail(turn.error());
  if (stops_ != 0) co_return fail(errc::closed);
  if (const auto may = refuse_early(asking); !may) co_return may;
  begun_ = true;
  under_way now{*this, asking};
  services left;
  if (service_record* const failed = std::exchange(failed_, nullptr))
    left = service_graph::with_dependants({failed});
  if (std::exchange(ended_, false)) left = graph_.made_services();
  static_cast<void>(co_await take_down(left));
  if (const auto made = graph_.make_all(); !made) {
    log_complaints();
    co_return made;
  }
  co_return co_await start_made(false);
}

/// Those that are made and have not started. Who fails is taken down with who needs it, if the
/// others are to go on.
task<result<void>> service_changes::start_made(bool goes_on) {
  result<void> outcome;
  while (service_record* const next = graph_.made_after(last_started_)) {
    if (stops_ != 0) co_return fail(errc::closed);
    calling_ = next;
    const result<void> up =
        co_await service_call{*next, next->kind->start, now_->starts, no_memory::fails};
    calling_ = nullptr;
    if (up) {
      next->state = service_state::started;
      last_started_ = next;
      graph_.tell_started(*next);
      continue;
    }
    log::error(weft::format("{} did not start: {}", graph_.path_of(*next), up.error().message()));
    keep_first(outcome, up);
    if (!goes_on) {
      failed_ = next;
      break;
    }
    next->hold = service_hold::failed;
    static_cast<void>(co_await take_down(service_graph::with_dependants({next})));
  }
  co_return outcome;
}

task<result<void>> service_changes::change(kind what, service_handle named) {
  const environment& asking = co_await this_task::environment();
  if (is_called(asking))
    co_return refuse(
        weft::format("{} asks for a change while one waits for a start() or stop() that waits for "
                     "it, or may: ask in a task of its own, later",
                     name_of(asking)));
  if (closing()) co_return fail(errc::closed);
  auto turn = turn_.try_lock();
  if (!turn) {
    auto waited = co_await wait_in_line(asking);
    if (!waited) co_return fail(waited.error());
    turn = std::move(*waited);
  }
  if (closing()) co_return fail(errc::closed);
  if (const auto wanted = still_wanted(asking); !wanted) co_return wanted;
  service_record* const target = graph_.find(named);
  if (target == nullptr) co_return fail(errc::not_found);
  if (target->per_consumer)
    co_return refuse(weft::format(
        "{} is per consumer: it is those who have one that start and stop", target->title()));
  if (const auto may = refuse_early(asking); !may) co_return may;
  begun_ = true;
  under_way now{*this, asking};
  if (service_record* const failed = std::exchange(failed_, nullptr)) {
    failed->hold = service_hold::failed;
    static_cast<void>(co_await take_down(service_graph::with_dependants({failed})));
  }
  const bool is_to_stay = what == kind::start || what == kind::restart;
  result<void> outcome = co_await change_one(what, *target, asking);
  if (graph_.may_have_unneeded())
    keep_first(outcome, co_await end_unneeded(is_to_stay ? target : nullptr, asking));
  co_return outcome;
}

/// Lazy ones whom nobody needs any more, and then those whom nobody but they has needed.
task<result<void>> service_changes::end_unneeded(const service_record* wanted,
                                                 const environment& asking) {
  result<void> outcome;
  while (!closing()) {
    const services going = graph_.take_unneeded(wanted, asking);
    if (going.empty()) break;
    keep_first(outcome, co_await take_down(going));
    for (service_record* const each : going) each->passed = false;
  }
  co_return outcome;
}

task<result<void>> service_changes::change_one(kind what, service_record& target,
                                               const environment& asking) {
  services roots;
  result<void> down;
  if (what != kind::start) {
    if (what == kind::remove)
      roots = service_graph::with_instances(target);
    else
      roots.push_back(&target);
    const services going = service_graph::with_dependants(roots);
    const auto is_going = [&going](const lifetime* one) {
      return std::ranges::any_of(going, [one](const lifetime* each) { return each == one; });
    };
    if (const lifetime* const one = who_waits(asking, is_going))
      co_return refuse(weft::format("{0} waits for {1} to stop, which waits for {0} to end",
                                    one->name(), target.title()));
    down = co_await take_down(going);
  }
  switch (what) {
    case kind::stop:
      target.hold = service_hold::stopped;
      graph_.note_loss(target);
      co_return down;
    case kind::remove:
      for (service_record* const each : roots) graph_.erase(*each);
      keep_first(down, co_await bring_up({}));
      co_return down;
    case kind::start:
    case kind::restart: break;
  }
  auto up = co_await bring_up(service_graph::with_instances(target));
  if (up && closing()) co_return fail(errc::closed);
  if (up && target.state != service_state::started) {
    up = graph_.explain_unmade(target);
    log_complaints();
  }
  co_return up;
}

task<result<void>> service_changes::take_down(const services& going) {
  result<void> outcome;
  for (service_record* const each : going) graph_.hide(*each);
  graph_.tell_leaving(going);
  for (service_record* const each : going) {
    if (last_started_ == each) last_started_ = graph_.made_before(*each);
    const bool up = std::exchange(each->state, service_state::made) == service_state::started;
    calling_ = each;
    stopping_.store(each->kind, std::memory_order_release);
    result<void> down;
    if (up) down = co_await service_call{*each, each->kind->stop, now_->stops, no_memory::waits};
    each->request_end();
    if (!each->idle()) co_await each->ended();
    stopping_.store(nullptr, std::memory_order_relaxed);
    calling_ = nullptr;
    tell_unclean(*each, down);
    keep_first(outcome, down);
    graph_.unmake(*each);
  }
  co_return outcome;
}

/// Makes and starts `wanted`, and whoever has waited for what has come.
task<result<void>> service_changes::bring_up(const services& wanted) {
  if (stops_ != 0) co_return fail(errc::closed);
  for (service_record* const each : wanted) each->hold = service_hold::none;
  auto outcome = graph_.make_more(wanted);
  log_complaints();
  keep_first(outcome, co_await start_made(true));
  co_return outcome;
}

task<result<void>> service_changes::next_start(interface_key& interface) {
  co_return co_await graph_.next_start(interface).wait();
}

task<result<void*>> service_changes::until_started(interface_key& interface) {
  const environment& asking = co_await this_task::environment();
  const until_owner_ends waiting{asking};
  for (;;) {
    if (void* const up = graph_.started(interface)) co_return up;
    if (closing()) co_return fail(errc::closed);
    if (is_awaited(asking)) {
      log::warning(weft::format(
          "{0} waits in its start() or stop() for {1}, which no change can start meanwhile: take a "
          "{1}& in the constructor, or wait in a task of its own",
          name_of(asking), interface.name));
      co_return fail(errc::invalid_argument);
    }
    const auto waited = co_await next_start(interface).in(waiting.obeyed());
    if (!waited) co_return fail(waited.error());
  }
}

task<result<lock_guard>> service_changes::wait_for_turn() { co_return co_await turn_.lock(); }

task<result<lock_guard>> service_changes::wait_in_line(const environment& asking) {
  const until_owner_ends waiting{asking};
  co_return co_await wait_for_turn().in(waiting.obeyed());
}

/// All must end, so nothing ends this wait but its turn: what a deadline does is to press those who
/// keep it.
task<lock_guard> service_changes::take_last_turn(const environment& asking) {
  if (auto at_once = turn_.try_lock()) co_return std::move(*at_once);
  if (now_ != nullptr) now_->starts_cut.request_stop();
  environment patient = asking;
  patient.stop = {};
  auto turn = co_await wait_for_turn().in(patient);
  if (!turn) {
    if (now_ != nullptr) now_->stops_cut.request_stop();
    patient.until = deadline::never();
    turn = co_await wait_for_turn().in(patient);
  }
  co_return std::move(*turn);
}

task<result<void>> service_changes::stop_all() {
  const environment& asking = co_await this_task::environment();
  const auto is_ours = [this](const lifetime* one) { return is_made(one, nullptr); };
  if (const lifetime* const one = who_waits(asking, is_ours))
    co_return refuse(
        weft::format("{} waits for all to stop, which waits for it to end: ask the "
                     "program to stop instead",
                     one->name()));
  const stop_count one_more{stops_};
  graph_.wake_all();
  const lock_guard turn = co_await take_last_turn(asking);
  co_await end_parts(last_started_);  // of those that were made and not started
  result<void> outcome;
  co_await stop_started(asking, outcome);
  co_await end_parts(nullptr);  // of others, which may have been called until now
  ended_ = true;
  co_return outcome;
}

task<void> service_changes::stop_started(const environment& asking, result<void>& outcome) {
  while (service_record* const last = last_started_) {
    stopping_.store(last->kind, std::memory_order_release);
    if (last->state == service_state::started) {
      graph_.tell_leaving({&last, 1});
      last->state = service_state::made;
      calling_ = last;
      const result<void> down =
          co_await service_call{*last, last->kind->stop, asking, no_memory::waits};
      calling_ = nullptr;
      keep_first(outcome, down);
      tell_unclean(*last, down);
    }
    if (!last->idle()) {
      last->stop_tasks();
      co_await last->ended();
    }
    stopping_.store(nullptr, std::memory_order_relaxed);
    last_started_ = graph_.made_before(*last);
  }
}

/// Tasks, and what is registered: of the services made after `first`, the last first.
task<void> service_changes::end_parts(service_record* first) {
  for (service_record* each = graph_.last_made(); each != first; each = graph_.made_before(*each)) {
    each->request_end();
    if (each->idle()) continue;
    stopping_.store(each->kind, std::memory_order_release);
    co_await each->ended();
  }
  stopping_.store(nullptr, std::memory_order_relaxed);
}

}  // namespace weft::detail

#include "load_loop.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace weft::bench {
namespace {

constexpr std::uint64_t tick_ns = 100'000'000;        // how soon a failed connect is tried again
constexpr std::uint64_t progress_ns = 1'000'000'000;  // progress, and the search for time-outs

constexpr std::uint64_t hung_least_ns = 1'000'000'000;  // a busy machine may hold up a short run

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

std::uint64_t steady_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

load_result load_loop::run() {
  if (epoll_ < 0) {
    result_.first_error = std::strerror(errno);
    all_settled_.count_down();
    return result_;
  }
  // By default the kernel wakes sleepers up to 50 µs late, to wake several at once.
  if (pace_.is_fixed()) ::prctl(PR_SET_TIMERSLACK, 1);
  started_ = steady_ns();
  next_progress_ = started_ + progress_ns;
  const auto warm_up = static_cast<std::uint64_t>(plan_.warm_up.count());

  for (std::uint64_t time = started_;; time = steady_ns()) {
    if (!settled_ && settle(time)) time = started_;
    if (settled_ && !measuring_ && time >= started_ + warm_up) begin_window(time);
    if (pace_.is_fixed()) send_due(time);
    if (measuring_ && is_over(time)) break;
    if (stop_) {
      result_.interrupted = true;
      if (!settled_) all_settled_.count_down();
      break;
    }
    if (time >= next_tick_) tick(time);
    turn(pace_.is_fixed() ? steady_ns() : time);
  }
  end_window(steady_ns());
  return result_;
}

// First all connect, then all send: what loads the server already would slow down each connect, and
// thousands of them for many seconds. The warm-up starts when the load has its full size.
bool load_loop::settle(std::uint64_t time) {
  const auto timeout = static_cast<std::uint64_t>(plan_.timeout.count());
  settled_ =
      connects_ >= connections_.size() || counts_.errors.connect != 0 || time - started_ >= timeout;
  if (!settled_) return false;
  all_settled_.arrive_and_wait();
  started_ = steady_ns();
  const std::uint64_t window_start = started_ + static_cast<std::uint64_t>(plan_.warm_up.count());
  pace_.begin(started_, window_start + static_cast<std::uint64_t>(plan_.duration.count()));
  for (connection& peer : connections_) {
    if (peer.state == link::up) go_on(peer, steady_ns());
  }
  return true;
}

void load_loop::send_due(std::uint64_t time) {
  while (!idle_.empty() && pace_.next_due() <= time) {
    connection* const peer = idle_.front();
    idle_.pop_front();
    peer->is_idle = false;
    if (peer->state != link::up || !peer->speaks->has_room()) continue;
    const std::uint64_t due = pace_.take();
    result_.send_delay.record(time - due);
    add_request(*peer, due, time);
    send_rest(*peer);
    if (peer->state == link::up && peer->speaks->has_room()) add_idle(*peer);
  }
}

std::uint64_t load_loop::sleep_ns(std::uint64_t time) const {
  const std::uint64_t due = idle_.empty() ? pace::never : pace_.next_due();
  std::uint64_t until = std::min(due, time + tick_ns);
  if (measuring_ && time < window_end_) until = std::min(until, window_end_);
  return until > time ? until - time : 0;
}

void load_loop::turn(std::uint64_t time) {
  const timespec sleep{.tv_sec = 0, .tv_nsec = static_cast<long>(sleep_ns(time))};
  const int ready =
      ::epoll_pwait2(epoll_, events_.data(), static_cast<int>(events_.size()), &sleep, nullptr);
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    on_event(*static_cast<connection*>(event.data.ptr), event.events);
  }
}

// A closed loop ends with its time. An open one waits for the replies to all that was due, else the
// slowest would be missing.
bool load_loop::is_over(std::uint64_t time) const {
  if (time < window_end_) return false;
  if (!pace_.is_fixed()) return true;
  const bool may_send = connecting_ != 0 && pace_.left() != 0;
  return (owed_ == 0 && !may_send) ||
         time - window_end_ >= static_cast<std::uint64_t>(plan_.timeout.count());
}

void load_loop::tick(std::uint64_t time) {
  next_tick_ = time + tick_ns;
  open_those_down(time);
  if (time < next_progress_) return;
  next_progress_ = time + progress_ns;
  expire(time);
  if (observer_ == nullptr) return;
  const double seconds = static_cast<double>(time - (measuring_ ? window_start_ : started_)) * 1e-9;
  observer_->on_progress(seconds, !measuring_, counts_, result_.latency);
}

void load_loop::begin_window(std::uint64_t time) {
  measuring_ = true;
  // What is due at a fixed rate does not ask when this loop came round to it.
  window_start_ =
      pace_.is_fixed() ? started_ + static_cast<std::uint64_t>(plan_.warm_up.count()) : time;
  window_end_ = window_start_ + static_cast<std::uint64_t>(plan_.duration.count());
  result_.requests_with_warm_up = counts_.requests;
  result_.errors_in_warm_up = counts_.errors;
  counts_ = {};
  result_.latency.clear();
  result_.send_delay.clear();
  ::getrusage(RUSAGE_THREAD, &usage_before_);
}

// Of a closed loop, nothing hangs that was asked for just now; but what nearly all of the run was
// not enough for would be in no number.
void load_loop::count_hung(std::uint64_t time) {
  const std::uint64_t least = std::max((time - window_start_) / 10 * 9, hung_least_ns);
  if (time < least) return;
  for (const connection& peer : connections_)
    counts_.errors.timed_out += peer.speaks->owed() - peer.speaks->owed_from(time - least);
}

// What an open loop still owes when its patience is at an end.
void load_loop::count_unanswered() {
  const double due = plan_.rate * static_cast<double>(plan_.duration.count()) * 1e-9;
  counts_.errors.unsent += std::min(pace_.left(), static_cast<std::uint64_t>(due));
  for (const connection& peer : connections_)
    counts_.errors.timed_out += peer.speaks->owed_from(window_start_);
}

void load_loop::end_window(std::uint64_t time) {
  if (pace_.is_fixed() && !result_.interrupted) count_unanswered();
  if (!pace_.is_fixed() && measuring_) count_hung(time);
  if (!measuring_) {  // interrupted in the warm-up: what there is of it is the result
    window_start_ = started_;
  }
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  result_.counts = counts_;
  result_.measured_from = static_cast<double>(window_start_) * 1e-9;
  result_.seconds = static_cast<double>(time - window_start_) * 1e-9;
  result_.cpu_user_seconds = seconds_of(usage.ru_utime) - seconds_of(usage_before_.ru_utime);
  result_.cpu_system_seconds = seconds_of(usage.ru_stime) - seconds_of(usage_before_.ru_stime);
  result_.requests_with_warm_up += counts_.requests;
}

void load_loop::expire(std::uint64_t time) {
  const auto timeout = static_cast<std::uint64_t>(plan_.timeout.count());
  for (connection& peer : connections_) {
    const bool is_connecting = peer.state != link::up && peer.state != link::down;
    if (!is_connecting && (peer.state == link::down || peer.speaks->owed() == 0)) continue;
    const std::uint64_t since = is_connecting ? peer.since : peer.speaks->oldest();
    if (time > since && time - since > timeout) fail(peer, &load_errors::timed_out, ETIMEDOUT);
  }
}

}  // namespace weft::bench

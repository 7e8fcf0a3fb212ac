// Internal to the container: starts and stops its services, all of them and single ones, one change
// at a time.
//
// Problem: a change waits, for a start(), for a stop(), for tasks to end, and meanwhile others ask
// for changes, or the program ends. Contract: a change has its turn to itself; others wait in line,
// in which a stop request and the deadline of who asks end the wait, and the end of the service
// that asks. What has begun is carried out: a stop request of who asked reaches start() and no
// stop(), the deadline both. A change that would wait for who waits for it is refused, as far as
// environment::owner tells: asked by a service that it stops, by one that has not started (if its
// start fails, it is stopped), or by one whose start() or stop() a change is waiting for.
// stop_all() hastens the change that is under way, lets no other begin, and has its turn: by its
// deadline it asks a stop() that still runs to stop. start_all() after that takes all down first,
// and makes them anew. One shard.
//
//   auto down = co_await changes.stop(handle);
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/coro/mutex.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/service_graph.hpp>

namespace weft::detail {

class service_changes {
 public:
  explicit service_changes(service_graph& graph) noexcept : graph_{graph} {}

  /// The first failure ends it, and leaves what has started as it is. Who failed is made anew
  /// before it is started again.
  [[nodiscard]] task<result<void>> start_all();
  /// In any case all of them; nothing is destroyed.
  [[nodiscard]] task<result<void>> stop_all();

  /// Of one service, and of who needs it. errc::not_found: the handle names none; errc::closed:
  /// all are being stopped, or have been.
  [[nodiscard]] task<result<void>> start(service_handle named) {
    return change(kind::start, named);
  }
  [[nodiscard]] task<result<void>> stop(service_handle named) { return change(kind::stop, named); }
  [[nodiscard]] task<result<void>> restart(service_handle named) {
    return change(kind::restart, named);
  }
  [[nodiscard]] task<result<void>> remove(service_handle named) {
    return change(kind::remove, named);
  }

  /// The one who is `interface`, when it has started.
  [[nodiscard]] task<result<void*>> until_started(interface_key& interface);

  /// Whether somebody has asked for a start.
  [[nodiscard]] bool begun() const noexcept { return begun_; }
  /// The type of the service that is being stopped now; empty: none. Any thread.
  [[nodiscard]] std::string_view stopping() const noexcept;

 private:
  enum class kind : std::uint8_t { start, stop, restart, remove };
  struct under_way;
  class stop_count;
  using services = std::vector<service_record*>;

  [[nodiscard]] task<result<void>> change(kind what, service_handle named);
  [[nodiscard]] task<result<void>> change_one(kind what, service_record& target,
                                              const environment& asking);
  [[nodiscard]] task<result<void>> take_down(const services& going);
  [[nodiscard]] task<result<void>> bring_up(const services& wanted);
  [[nodiscard]] task<result<void>> start_made(bool goes_on);
  [[nodiscard]] task<result<void>> end_unneeded(const service_record* wanted,
                                                const environment& asking);
  [[nodiscard]] task<result<void>> next_start(interface_key& interface);
  [[nodiscard]] task<result<lock_guard>> wait_for_turn();
  [[nodiscard]] task<result<lock_guard>> wait_in_line(const environment& asking);
  [[nodiscard]] task<lock_guard> take_last_turn(const environment& asking);
  [[nodiscard]] task<void> stop_started(const environment& asking, result<void>& outcome);
  [[nodiscard]] task<void> end_parts(service_record* first);
  [[nodiscard]] bool is_awaited(const environment& asking) const noexcept;
  [[nodiscard]] bool is_called(const environment& asking) const noexcept;
  [[nodiscard]] result<void> refuse_early(const environment& asking);
  /// Of the services made after `after`; nullptr: of all.
  [[nodiscard]] bool is_made(const lifetime* owner, service_record* after) noexcept;
  [[nodiscard]] bool closing() const noexcept { return stops_ != 0 || ended_; }
  void log_complaints() const;

  service_graph& graph_;
  mutex turn_;
  under_way* now_ = nullptr;                // the change that has its turn, if it can be hastened
  service_record* last_started_ = nullptr;  // of those made: all before have started, none after
  service_record* failed_ = nullptr;        // what a start_all() ended with: it is made and no more
  const service_record* calling_ = nullptr;  // whose start() or stop() is under way
  unsigned stops_ = 0;                       // calls of stop_all() that have not returned
  bool ended_ = false;                       // stop_all() has been, and start_all() not since
  bool begun_ = false;
  std::atomic<const service_kind*> stopping_{nullptr};
};

}  // namespace weft::detail

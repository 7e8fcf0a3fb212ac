// A batch of writes on its way to the writer of its database, and back.
//
// Contract: awaited once, on the shard; what it spans stays until then. A stop request or a
// deadline takes it back while it waits in line (errc::cancelled, errc::timed_out); once the writer
// has begun it is awaited. Then tell() says of each operation what has become of it, unless
// is_stale(): the schema is of another version, and nothing was done. If it is cancelled while it
// is being written, the writer no longer waits for a lock on its behalf. Where there are no threads
// it is made at once. Whatever runs out of memory on the way, what is said of a batch is true, or
// is failure_kind::unknown; an allocation that fails once its commit is durable changes nothing of
// it.
//
//   queued_write batch{loop, writer, version, operations};
//   if (auto waited = co_await batch; !waited) co_return fail(waited.error());
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/timer.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/store/engine.hpp>

namespace weft::store::sqlite {

struct engine_counts;
class writer;

struct write_outcome {
  enum class kind : std::uint8_t { done, missing, failed } is = kind::done;
  failure_kind why = failure_kind::other;
  std::string message{};
  bool is_of_all = false;  // as of a failure
};

class queued_write : private stop_registration, private timer, private runnable {
 public:
  queued_write(event_loop& home, writer& by, std::int64_t version,
               std::span<const key_write> operations)
      : stop_registration{&on_stop},
        timer{deadline_kind},
        runnable{&on_run},
        home_{home},
        by_{by},
        version_{version},
        operations_{operations},
        outcomes_(operations.size()) {}
  queued_write(const queued_write&) = delete;
  queued_write& operator=(const queued_write&) = delete;
  ~queued_write() = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    return begin(waiting, *waiting.promise().env);
  }
  [[nodiscard]] result<void> await_resume() const noexcept {
    if (refusal_) return fail(*refusal_);
    return {};
  }

  [[nodiscard]] bool is_stale() const noexcept { return is_stale_; }
  /// Whether it was the first of those in its commit.
  [[nodiscard]] bool has_led_commit() const noexcept { return has_led_commit_; }
  /// Whether its caller was cancelled or has passed its deadline. Any thread.
  [[nodiscard]] bool is_given_up() const noexcept {
    return is_given_up_.load(std::memory_order_relaxed);
  }
  /// When it was submitted, by the loop's clock; time_point::min() where there are no threads.
  [[nodiscard]] time_point asked_at() const noexcept { return asked_at_; }
  /// Tells `to` what has become of it.
  void tell(engine_counts& counts, write_sink& to) const;

 private:
  friend class writer;
  friend class write_group;
  bool begin(std::coroutine_handle<> waiting, const environment& env);
  bool refuse(error why) noexcept;
  void give_up(errc why) noexcept;

  // The writer's.
  void come_back() noexcept { home_.post(*this); }
  /// A commit that it is a part of begins: unless settle() says otherwise, nobody knows.
  void begin_commit() noexcept;
  /// Nothing of it was committed.
  void undo_commit() noexcept { stage_ = stage::undone; }
  /// What was noted of each operation is so.
  void settle() noexcept;
  /// Memory ran out: nothing was done, where nothing else is known.
  void run_out_of_memory() noexcept;
  /// As failed by the operation at `culprit`, or by none of them.
  void fail_all(failure_kind why, std::string_view message, std::optional<std::size_t> culprit);

  static void on_stop(stop_registration& self) noexcept;
  static void on_deadline(timer& self) noexcept;
  static void on_run(runnable& self) noexcept;
  static std::coroutine_handle<> owner_of(const timer& self) noexcept {
    return static_cast<const queued_write&>(self).waiting_;
  }
  static constexpr timer_kind deadline_kind{
      .on_expiry = &on_deadline, .name = "deadline of a write", .owner = &owner_of};

  /// Of what is known of the batch.
  enum class stage : std::uint8_t {
    undone,      // nothing was committed
    committing,  // nobody knows
    settled,     // outcomes_
  };

  event_loop& home_;
  writer& by_;
  std::int64_t version_;
  std::span<const key_write> operations_;
  std::vector<write_outcome> outcomes_;
  std::coroutine_handle<> waiting_;
  time_point asked_at_ = time_point::min();
  std::atomic<bool> is_given_up_ = false;
  std::optional<error> refusal_;
  stage stage_ = stage::undone;
  bool is_stale_ = false;
  bool has_led_commit_ = false;
  list_hook in_line_;
};

}  // namespace weft::store::sqlite

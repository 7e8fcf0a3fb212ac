// One thread's loop: runs what is ready, keeps time, and asks the kernel for more.
//
// A turn, each step bounded by loop_options:
//   1 mailbox      functions posted by other threads, messages of other shards
//   2 ready queue  by priority band; first in first out within one, or as a seed draws: shuffle.hpp
//   3 timers       what is due
//   4 flush        write queues that were filled and not flushed
//   5 enter        one call to the kernel: submit all, wait if there is nothing to run
//   6 answers      go onto the ready queue, never resumed from inside the backend
//
// Contract: made, run and destroyed on one thread; post(), post_stop() and gauges() alone may be
// called from others, which debug builds check where work comes in. A thread has one loop, but
// where a simulated world's driver runs several in turn, each in its in_turn. spawn() gives a task
// to the loop's own scope; run() returns when that scope is empty and the backend is quiescent. A
// loop without tasks returns at once. A loop with a place in a mesh is one shard of it: see
// mesh.hpp.
//
//   auto loop = event_loop::create({.backend = backend_kind::automatic});
//   (*loop)->spawn(serve(**loop));
//   (*loop)->run();
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/random.hpp>
#include <weft/base/result.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/ready_queue.hpp>
#include <weft/coro/scope.hpp>
#include <weft/loop/buffer_pool.hpp>
#include <weft/loop/idle_policy.hpp>
#include <weft/loop/loop_gauges.hpp>
#include <weft/loop/loop_pulse.hpp>
#include <weft/loop/timer_wheel.hpp>

namespace weft {

class backend;
class blocking_pool;
class memory_budget;
class memory_share;
class mesh;
class mesh_port;
class piece_watch;
struct operation;
struct receive_operation;
struct sim_host;
class stall_watch;
enum class backend_kind : std::uint8_t;
enum class piece_kind : std::uint8_t;

struct loop_options {
  /// automatic: io_uring where the kernel allows it, else epoll; the choice is logged with its
  /// reason.
  backend_kind backend{};
  /// With backend_kind::simulated: the host of a world whose driver gives this loop its turns.
  /// None: a calm world of its own.
  sim_host* host = nullptr;
  /// Receive buffers of 16 KiB this loop may have in all.
  std::uint32_t buffers_max = 16'384;
  /// Messages taken from the mailbox, resumptions and timers in one turn before the kernel is asked
  /// again.
  unsigned messages_per_turn = 256;
  unsigned resumptions_per_turn = 512;
  unsigned timers_per_turn = 256;
  /// Bytes produced in the second step, and again in the fourth, after which the step ends: see
  /// note_produced().
  std::size_t produced_bytes_per_turn = 64 * 1024;
  /// Operations of one task that may be answered at once before it goes through the ready queue.
  unsigned answers_per_resumption = 128;
  /// What the loop does when it has nothing to run.
  idle_policy idle{};
  /// Functions posted by other threads that may wait to be run.
  std::size_t letters_max = 65'536;
  /// Threads that blocking() may have, and calls that may wait for one.
  unsigned blocking_threads = 4;
  std::size_t blocking_queue_max = 1024;
  /// Decides the order of ready tasks within a band; 0: first in, first out. None: the process's
  /// (shuffle.hpp), drawn in debug builds. Shards of one seed have orders of their own.
  std::optional<std::uint64_t> shuffle_seed{};
  /// The mesh this loop is one shard of, and which.
  mesh* shards = nullptr;
  unsigned shard = 0;
  /// Who sees to it that a task that keeps this loop is named; outlives the loop. None: nobody.
  stall_watch* watched_by = nullptr;
  /// What its clients may be given memory from; outlives the loop. None: that of the process.
  memory_budget* memory = nullptr;
};

/// Something whose bytes wait for step 4 of the turn.
class flushable {
 public:
  using function = void (*)(flushable&) noexcept;
  explicit flushable(function f) noexcept : flush{f} {}
  function flush;
  list_hook hook;

 protected:
  ~flushable() = default;
};

class event_loop final : public scheduler {
 public:
  /// Fails with the reason when a backend asked for by name is not to be had.
  [[nodiscard]] static result<std::unique_ptr<event_loop>> create(const loop_options& options = {});
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;
  ~event_loop() override;

  /// The loop this thread runs; asserts that there is one.
  [[nodiscard]] static event_loop& current() noexcept;

  /// Makes a loop of a simulated world the current one while it lives; perhaps in the midst of
  /// another one's turn.
  class in_turn {
   public:
    explicit in_turn(event_loop& loop) noexcept;
    in_turn(const in_turn&) = delete;
    in_turn& operator=(const in_turn&) = delete;
    ~in_turn();

   private:
    event_loop* before_;
  };

  /// What time people say it is, since 1970-01-01 00:00:00 UTC; may jump. Reads the clock.
  [[nodiscard]] duration wall_now() const noexcept;
  /// The time this turn began: one clock reading a turn.
  [[nodiscard]] time_point now() const noexcept override { return now_; }
  void arm(timer& t, time_point when) noexcept override { timers_.arm(t, when); }
  void disarm(timer& t) noexcept override { timers_.disarm(t); }

  void spawn(task<void> work, priority band = priority::normal) noexcept {
    expect_here("spawn()");
    tasks_->spawn(std::move(work), band);
  }
  /// As scope::spawn() of a function: keeps it, and the captures of a lambda, until its task ends.
  template <detail::makes_task F>
  void spawn(F work, priority band = priority::normal) {
    expect_here("spawn()");
    tasks_->spawn(std::move(work), band);
  }
  /// As spawn(), in an environment of the task's own, which must outlive it.
  void spawn_in(const environment& env, task<void> work) noexcept {
    expect_here("spawn_in()");
    tasks_->spawn_in(env, std::move(work));
  }
  /// A temporary environment ends before the task does.
  void spawn_in(const environment&&, task<void>) = delete;
  /// What a task spawned here inherits.
  [[nodiscard]] const environment& root() const noexcept { return tasks_->inherited(); }

  /// Any thread: `work` runs on this loop at the start of a turn. errc::limit_exceeded: so many
  /// wait already that this one was not taken.
  result<void> post(unique_function<void()> work);
  /// Any thread: as post(), of something that is its owner's memory. Never fails.
  void post(runnable& item) noexcept;
  /// Any thread: request_stop() at the start of a turn. Never fails.
  void post_stop() noexcept;

  /// Runs turns until all spawned tasks have ended and the backend is quiescent. An exception that
  /// left a spawned task has stopped the others; the first is rethrown from here.
  void run();
  /// One turn; waits for the kernel no longer than `until`, and not at all when there is nothing to
  /// wait for.
  void run_once(time_point until) noexcept;
  /// Whether all spawned tasks have ended and nothing is left to be run or answered.
  [[nodiscard]] bool finished() const noexcept;

  // For a loop that is run by another one, turn by turn: run_once(time_point::min()), and if it has
  // not finished(), poll fd() for input until next_due(), and again.

  /// A descriptor that can be read when the kernel or another thread has something for this loop;
  /// -1 if the backend has none: ask for backend_kind::epoll.
  [[nodiscard]] int fd() noexcept;
  /// When the next turn is due, whatever fd() says: min() is now. To be asked after each turn: from
  /// then on, who posts wakes who polls.
  [[nodiscard]] time_point next_due() noexcept;

  /// Asks all spawned tasks to stop.
  void request_stop() noexcept { tasks_->request_stop(); }

  [[nodiscard]] timer_wheel& timers() noexcept { return timers_; }
  [[nodiscard]] buffer_pool& buffers() noexcept { return buffers_; }
  /// What this loop holds of the budget. Its gauges(): any thread.
  [[nodiscard]] memory_share& memory() noexcept { return *memory_; }
  [[nodiscard]] backend& io() noexcept { return *io_; }

  /// Counts bytes that the running piece of work has produced for others, or taken in: rows,
  /// bodies, frames. A piece that handles many takes as long as many that do not, so a step of the
  /// turn ends with the piece that reaches loop_options::produced_bytes_per_turn, at its next
  /// operation; the rest follows after the kernel has been asked what has come meanwhile.
  void note_produced(std::size_t size_bytes) noexcept {
    produced_bytes_ += size_bytes;
    if (!has_produced_enough()) return;
    items_left_ = std::min(items_left_, 1U);
    answers_left_ = 0;  // what runs goes on in its turn
  }

  void flush_later(flushable& item) noexcept {
    if (!item.hook.is_linked()) dirty_.push_back(item);
  }

  /// Starts `op` unless the running task has had its share of immediate answers, in which case the
  /// answer is queued. True: answered, go on. False: it will be.
  [[nodiscard]] bool start(operation& op) noexcept;
  /// That for who does not wait: false if there is no answer yet, or others are to have their turn,
  /// and nothing was started.
  [[nodiscard]] bool receive_now(receive_operation& op) noexcept;

  /// Whether other threads can have a part in what this loop does: not in a simulated world.
  [[nodiscard]] bool has_threads() const noexcept;
  /// Made when first asked for.
  [[nodiscard]] blocking_pool& blocking_threads();

  /// Whether this turn began when a wait ended, and nothing has kept the loop since. Known while a
  /// timer is armed exactly: else nobody asks, and it would cost a look at the clock.
  [[nodiscard]] bool has_waited() const noexcept { return has_waited_; }

  /// Who is told of each piece of work from now on, one at a time; nullptr: nobody. While somebody
  /// is, what is armed exactly goes before the next piece.
  void watch_pieces(piece_watch* watch) noexcept;

  /// Turns run so far.
  [[nodiscard]] std::uint64_t turns() const noexcept { return gauges_.turns.get(); }
  /// Any thread.
  [[nodiscard]] loop_gauges gauges() const noexcept { return gauges_.read(); }

  /// Any thread.
  [[nodiscard]] loop_pulse& pulse() noexcept { return pulse_; }

  /// Which shard of its mesh this loop is; 0 without one.
  [[nodiscard]] unsigned shard() const noexcept { return options_.shard; }
  /// nullptr without a mesh.
  [[nodiscard]] mesh_port* port() const noexcept { return port_.get(); }

 private:
  struct mailbox_holder;
  explicit event_loop(const loop_options& options);
  void check_here(const char* call) const noexcept override;
  void tell_leftovers() noexcept;
  /// After each piece of work, which is then to be named, and as a turn begins, for a watch that
  /// dozes.
  void note_stall() noexcept {
    if (pulse_.is_overdue.load(std::memory_order_relaxed)) [[unlikely]]
      tell_stall();
  }
  WEFT_RARE_CALL void tell_stall() noexcept;
  [[nodiscard]] bool has_mail() const noexcept;
  [[nodiscard]] bool prepare_to_sleep() noexcept;
  [[gnu::noinline]] void take_mail() noexcept;
  [[gnu::noinline]] void note_holdings() noexcept;
  void run_ready() noexcept;
  [[gnu::noinline]] void run_ready_otherwise() noexcept;
  void run_ready_in_pieces() noexcept;
  void end_piece(piece_kind kind) noexcept;
  void release_due(time_point now) noexcept;
  template <class Next, class Note>
  void run_items(Next next, Note note) noexcept;
  [[nodiscard]] bool has_produced_enough() const noexcept {
    return produced_bytes_ >= options_.produced_bytes_per_turn;
  }
  [[gnu::noinline]] void flush_dirty() noexcept;
  void enter(time_point until) noexcept;
  [[nodiscard, gnu::noinline]] bool spin(time_point until) noexcept;

  loop_options options_;
  std::unique_ptr<memory_share> memory_;
  buffer_pool buffers_;
  std::optional<random> shuffle_;  // none: first in, first out
  intrusive_list<flushable, &flushable::hook> dirty_;
  std::unique_ptr<backend> io_;
  std::unique_ptr<mailbox_holder> mail_;
  std::unique_ptr<mesh_port> port_;
  time_point now_;
  time_point spins_until_{};  // with an idle policy that spins
  timer_wheel timers_;
  std::unique_ptr<scope> tasks_;
  std::unique_ptr<blocking_pool> blocking_;
  loop_gauge_board gauges_;
  loop_pulse pulse_;
  const void* thread_;  // names the one this loop was made on
  piece_watch* pieces_ = nullptr;
  bool is_plain_ = true;  // nobody watches pieces, and the order is first in, first out
  unsigned answers_left_ = 0;
  unsigned items_left_ = 0;         // that may run in this step, the running one included
  std::size_t produced_bytes_ = 0;  // in this step
  bool has_worked_ = false;         // since it last began to spin
  bool has_waited_ = false;
  bool has_taken_mail_ = false;  // since the pieces of a turn were last told of
};

}  // namespace weft

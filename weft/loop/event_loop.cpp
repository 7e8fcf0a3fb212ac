#include <weft/loop/event_loop.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/assert.hpp>
#include <weft/base/failure_note.hpp>
#include <weft/base/log.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/blocking_pool.hpp>
#include <weft/loop/leftovers.hpp>
#include <weft/loop/mailbox.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/loop/piece_watch.hpp>
#include <weft/loop/shuffle.hpp>
#include <weft/loop/sim/sim_network.hpp>
#include <weft/loop/stall_watch.hpp>

namespace weft {
namespace {

constinit thread_local event_loop* current_loop = nullptr;
constinit thread_local const char this_thread_mark = 0;  // whose address names the thread

constexpr std::uint64_t turns_between_notes = 64;

/// Tells the processor that this thread only waits, which leaves more of the core to its sibling.
void pause_processor() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

time_point first_moment(const loop_options& options) noexcept {
  if (options.backend != backend_kind::simulated) return std::chrono::steady_clock::now();
  return options.host != nullptr ? options.host->network->now() : sim_network::beginning;
}

}  // namespace

// Keeps <mutex> and <atomic> users out of the public header.
struct event_loop::mailbox_holder {
  mailbox_holder(doorbell* of_shard, std::size_t letters_max) noexcept
      : bell{of_shard != nullptr ? *of_shard : own_bell}, box{bell, letters_max} {}
  doorbell own_bell;
  doorbell& bell;
  mailbox box;
};

event_loop::event_loop(const loop_options& options)
    : options_{options},
      memory_{std::make_unique<memory_share>(
          options.memory != nullptr ? *options.memory : memory_budget::of_process(), *this)},
      buffers_{options.buffers_max, memory_.get()},
      port_{options.shards != nullptr
                ? std::make_unique<mesh_port>(*options.shards, options.shard, *this)
                : nullptr},
      now_{first_moment(options)},
      timers_{now_},
      thread_{&this_thread_mark},
      answers_left_{options.answers_per_resumption} {
  mail_ = std::make_unique<mailbox_holder>(port_ != nullptr ? &port_->bell() : nullptr,
                                           options.letters_max);
  options_.resumptions_per_turn = std::max(options_.resumptions_per_turn, 1U);
  // Simulated time stands still until the loop sleeps.
  if (!has_threads()) options_.idle = idle_policy::sleep();
  const std::uint64_t seed =
      options_.shuffle_seed ? *options_.shuffle_seed : default_shuffle_seed();
  if (seed != 0) shuffle_.emplace(seed + options_.shard);
  is_plain_ = !shuffle_;
  tasks_ = std::make_unique<scope>(environment{.stop = {}, .until = {}, .runs_on = this});
}

result<std::unique_ptr<event_loop>> event_loop::create(const loop_options& options) {
  const bool is_driven = options.host != nullptr;
  WEFT_ASSERT(is_driven || current_loop == nullptr, "a thread has one event loop at a time");
  std::unique_ptr<event_loop> loop{new event_loop{options}};
  auto io = make_backend(options.backend, {.ready = loop->ready_, .buffers = loop->buffers_},
                         options.host);
  if (!io) return fail(io.error());
  loop->io_ = std::move(*io);
  if (options.shards != nullptr) options.shards->enlist(options.shard, *loop);
  if (options.watched_by != nullptr && loop->has_threads()) options.watched_by->enlist(*loop);
  if (!is_driven) current_loop = loop.get();
  return loop;
}

event_loop::in_turn::in_turn(event_loop& loop) noexcept : before_{current_loop} {
  WEFT_ASSERT(before_ == nullptr || before_->options_.host != nullptr,
              "a thread has one event loop at a time");
  current_loop = &loop;
}

event_loop::in_turn::~in_turn() { current_loop = before_; }

duration event_loop::wall_now() const noexcept { return io_->wall_now(); }

/// What is left now belongs to somebody who has forgotten it, and is about to refer to memory that
/// is gone.
void event_loop::tell_leftovers() noexcept {
  if (io_ == nullptr) return;
  try {
    const std::vector<std::string> lines = leftovers(*this);
    for (const std::string& line : lines) log::error(line);
    if (const char* const note = failure_note(); note != nullptr && !lines.empty())
      log::error(note);
  } catch (const std::exception& why) {
    log::error(std::string{"what the loop leaves behind cannot be told: "} + why.what());
  }
}

event_loop::~event_loop() {
  // Streams dropped since the last turn still send what they have.
  if (tasks_->active() == 0 && io_ != nullptr) {
    try {
      run();
    } catch (const std::exception& why) {
      log::error(std::string{"a task threw, and nobody asked for it: "} + why.what());
    }
  }
  tell_leftovers();
  if (options_.watched_by != nullptr) options_.watched_by->discharge(*this);
  blocking_.reset();
  if (port_ != nullptr) port_->shards().discharge(port_->index());
  memory_->leave();
  tasks_.reset();
  io_.reset();
  if (current_loop == this) current_loop = nullptr;
}

event_loop& event_loop::current() noexcept {
  WEFT_ASSERT(current_loop != nullptr, "this thread has no event loop");
  return *current_loop;
}

/// What has been put in the wrong hands is lost later, and elsewhere: so this names both shards.
void event_loop::check_here(const char* call) const noexcept {
  const bool in_turn = current_loop == this;
  const bool between_turns = current_loop == nullptr && thread_ == &this_thread_mark;
  if (in_turn || between_turns) return;
  const std::string where = current_loop != nullptr
                                ? "shard " + std::to_string(current_loop->shard())
                                : "a thread of no shard";
  const std::string message =
      std::string{call} + " of shard " + std::to_string(shard()) + " was called on " + where +
      ": use co_await on(shard, f) between shards, post() from other threads";
  detail::assertion_failed(__FILE__, __LINE__, "&event_loop::current() == this", message.c_str());
}

result<void> event_loop::post(unique_function<void()> work) {
  switch (mail_->box.post(std::move(work))) {
    case mailbox::receipt::full: return fail(errc::limit_exceeded);
    case mailbox::receipt::wake: io_->wake(); break;
    case mailbox::receipt::posted: break;
  }
  return {};
}

void event_loop::post(runnable& item) noexcept {
  if (mail_->box.post(item) == mailbox::receipt::wake) io_->wake();
}

void event_loop::post_stop() noexcept {
  if (mail_->bell.ring(doorbell::stop)) io_->wake();
}

bool event_loop::has_threads() const noexcept {
  return options_.backend != backend_kind::simulated;
}

blocking_pool& event_loop::blocking_threads() {
  if (blocking_ == nullptr)
    blocking_ = std::make_unique<blocking_pool>(*this, options_.blocking_threads,
                                                options_.blocking_queue_max);
  return *blocking_;
}

int event_loop::fd() noexcept { return io_->poll_descriptor(); }

time_point event_loop::next_due() noexcept {
  // What was sent between turns, by a stop request for one, must be heard of as well.
  if (port_ != nullptr) port_->flush();
  if (!ready_.empty() || !dirty_.empty() || !prepare_to_sleep()) return time_point::min();
  return timers_.next_due();
}

bool event_loop::start(operation& op) noexcept {
  expect_here("start()");
  op.cancelled = false;
  if (!io_->start(op)) {
    op.pending = true;
    return false;
  }
  if (answers_left_ > 1) [[likely]] {
    --answers_left_;
    return true;
  }
  op.pending = true;
  schedule(op, priority::low);  // whoever has had so much gives way
  return false;
}

bool event_loop::receive_now(receive_operation& op) noexcept {
  expect_here("receive_now()");
  if (answers_left_ <= 1 || !io_->receive_now(op)) return false;
  --answers_left_;
  return true;
}

void event_loop::run_ready() noexcept {
  if (is_plain_) [[likely]]
    run_items([this] { return ready_.pop(); }, [] {});
  else
    run_ready_otherwise();
}

void event_loop::run_ready_otherwise() noexcept {
  if (pieces_ != nullptr) return run_ready_in_pieces();
  run_items([this] { return ready_.pop_any(*shuffle_); }, [] {});
}

/// Since the last piece was told of, the loop has sent, asked the kernel and taken its mail.
void event_loop::run_ready_in_pieces() noexcept {
  if (has_waited_)
    pieces_->skip(now_);
  else
    pieces_->end(now_, timers_.next_due(), piece_kind::io);
  pieces_->begin(timers_.next_due());
  if (std::exchange(has_taken_mail_, false)) end_piece(piece_kind::mail);
  release_due(now_);
  has_waited_ = false;
  release_due(io_->now());
  const auto note = [this] {
    if (pieces_ == nullptr) return;  // the last piece ended the watch
    const bool is_task = detail::running.resumed_at.load(std::memory_order_relaxed).line() != 0;
    end_piece(is_task ? piece_kind::task : piece_kind::callback);
    release_due(pieces_->begun());
  };
  if (shuffle_)
    run_items([this] { return ready_.pop_any(*shuffle_); }, note);
  else
    run_items([this] { return ready_.pop(); }, note);
}

template <class Next, class Note>
void event_loop::run_items(Next next, Note note) noexcept {
  unsigned run = 0;
  bool has_run_patient = false;
  produced_bytes_ = 0;
  const auto run_item = [&](runnable& item) {
    answers_left_ = options_.answers_per_resumption;
    ++run;
    item.run(item);
    note_stall();
    note();
    detail::running.forget();
  };
  items_left_ = options_.resumptions_per_turn;
  do {
    if (!ready_.has_urgent()) {
      if (ready_.empty()) break;
      has_run_patient = true;
    }
    run_item(*next());
  } while (--items_left_ != 0);
  // However busy a shard is, one of those who have given way has its turn.
  if (items_left_ == 0 && !has_run_patient && ready_.has(priority::low)) [[unlikely]]
    run_item(*ready_.pop_from(priority::low));
  if (run == 0) return;
  has_worked_ = true;
  gauges_.resumptions.add(run);
}

void event_loop::flush_dirty() noexcept {
  if (dirty_.empty()) return;
  // What flushing fills again waits for the next turn: a step ends.
  decltype(dirty_) filled;
  filled.splice_back(dirty_);
  produced_bytes_ = 0;
  while (!has_produced_enough()) {
    flushable* const item = filled.pop_front();
    if (item == nullptr) break;
    item->flush(*item);
  }
  if (filled.empty()) return;
  // What is left is the next turn's, before what has been filled again.
  filled.splice_back(dirty_);
  dirty_.splice_back(filled);
}

/// Asks the kernel again and again until there is something to do or it is time to sleep (false).
/// Sleep is not announced meanwhile: who posts a letter need not wake this thread.
bool event_loop::spin(time_point until) noexcept {
  time_point now = io_->now();
  if (std::exchange(has_worked_, false)) spins_until_ = saturated_sum(now, options_.idle.spin_for);
  bool has_noted = false;
  while (now < spins_until_) {
    io_->enter(time_point::min());
    if (!ready_.empty() || has_mail() || finished()) return true;
    if (!std::exchange(has_noted, true)) note_holdings();
    pause_processor();
    now = io_->now();
    if (now >= until) return true;
  }
  return false;
}

void event_loop::enter(time_point until) noexcept {
  has_waited_ = false;
  if (!ready_.empty() || !dirty_.empty() || finished()) {
    io_->enter(time_point::min());
    return;
  }
  until = std::min(until, timers_.next_due());
  if (timers_.has_exact()) [[unlikely]] {
    // In the call that waits it would pass for waiting.
    if (io_->has_to_hand_over()) return io_->enter(time_point::min());
    has_waited_ = io_->now() < until;
  }
  if (options_.idle.spins() && spin(until)) return;
  const bool may_sleep = prepare_to_sleep();
  if (may_sleep) {
    if (until != time_point::min()) gauges_.sleeps.add(1);
    note_holdings();
  }
  io_->enter(may_sleep ? until : time_point::min());
}

/// Whether other threads have something for this loop.
bool event_loop::has_mail() const noexcept {
  return mail_->bell.rung(~doorbell::bits{0}) || mail_->box.has_leftovers() ||
         (port_ != nullptr && port_->has_leftovers());
}

bool event_loop::prepare_to_sleep() noexcept {
  return !has_mail() && mail_->bell.prepare_to_sleep();
}

void event_loop::take_mail() noexcept {
  has_worked_ = true;
  if (mail_->bell.rung(doorbell::stop)) {
    static_cast<void>(mail_->bell.take(doorbell::stop));
    request_stop();
  }
  const unsigned letters = mail_->box.drain(options_.messages_per_turn);
  gauges_.letters.add(letters);
  if (port_ != nullptr) {
    const unsigned messages = port_->drain(options_.messages_per_turn);
    gauges_.messages_in.add(messages);
  }
  has_taken_mail_ = true;
  note_stall();
}

void event_loop::note_holdings() noexcept {
  gauges_.live_frames.set(frame_pool::live_frames());
  gauges_.frame_bytes.set(frame_pool::held_bytes());
  gauges_.buffers_in_use.set(buffers_.in_use());
}

void event_loop::run_once(time_point until) noexcept {
  gauges_.turns.add(1);
  pulse_.is_working.store(true, std::memory_order_relaxed);
  now_ = io_->now();
  note_stall();
  // Here, since in a simulated world the sleep lasts until the next turn.
  mail_->bell.woke_up();
  if (has_mail()) [[unlikely]]
    take_mail();
  run_ready();
  if (const unsigned fired = timers_.advance(now_, options_.timers_per_turn); fired != 0) {
    has_worked_ = true;
    gauges_.timers_fired.add(fired);
  }
  if (!dirty_.empty()) flush_dirty();
  if (port_ != nullptr) {
    gauges_.messages_out.set(port_->sent());
    port_->flush();
  }
  if (turns() % turns_between_notes == 0) note_holdings();
  note_stall();
  pulse_.is_working.store(false, std::memory_order_relaxed);
  enter(until);
}

bool event_loop::finished() const noexcept {
  return tasks_->active() == 0 && io_->quiescent() && ready_.empty() && dirty_.empty() &&
         (port_ == nullptr || port_->is_idle());
}

void event_loop::run() {
  while (!finished()) run_once(time_point::max());
  tasks_->rethrow_failure();
}

}  // namespace weft

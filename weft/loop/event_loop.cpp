#include <weft/loop/event_loop.hpp>

#include <utility>

#include <weft/base/assert.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/mailbox.hpp>
#include <weft/loop/make_backend.hpp>

namespace weft {
namespace {

thread_local event_loop* current_loop = nullptr;

/// Tells the processor that this thread only waits, which leaves more of the core to its sibling.
void pause_processor() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

time_point saturated_sum(time_point start, duration more) noexcept {
  return more < time_point::max() - start ? start + more : time_point::max();
}

}  // namespace

// Keeps <mutex> and <atomic> users out of the public header.
struct event_loop::mailbox_holder {
  mailbox box;
};

event_loop::event_loop(const loop_options& options)
    : options_{options},
      buffers_{options.buffers_max},
      mail_{std::make_unique<mailbox_holder>()},
      now_{std::chrono::steady_clock::now()},
      timers_{now_},
      answers_left_{options.answers_per_resumption} {
  // Time in memory stands still until the loop sleeps.
  if (options_.backend == backend_kind::memory) options_.idle = idle_policy::sleep();
  tasks_ = std::make_unique<scope>(environment{.stop = {}, .until = {}, .runs_on = this});
}

result<std::unique_ptr<event_loop>> event_loop::create(const loop_options& options) {
  WEFT_ASSERT(current_loop == nullptr, "a thread has one event loop at a time");
  std::unique_ptr<event_loop> loop{new event_loop{options}};
  auto io =
      make_backend(options.backend, {.ready = loop->ready_, .buffers = loop->buffers_}, loop->now_);
  if (!io) return fail(io.error());
  loop->io_ = std::move(*io);
  current_loop = loop.get();
  return loop;
}

event_loop::~event_loop() {
  // Streams dropped since the last turn still send what they have.
  if (tasks_->active() == 0 && io_ != nullptr) run();
  tasks_.reset();
  io_.reset();
  if (current_loop == this) current_loop = nullptr;
}

event_loop& event_loop::current() noexcept {
  WEFT_ASSERT(current_loop != nullptr, "this thread has no event loop");
  return *current_loop;
}

void event_loop::post(unique_function<void()> work) {
  if (mail_->box.post(std::move(work))) io_->wake();
}

bool event_loop::start(operation& op) noexcept {
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
  schedule(op);
  return false;
}

void event_loop::run_ready() noexcept {
  for (unsigned left = options_.resumptions_per_turn; left > 0; --left) {
    runnable* item = ready_.pop();
    if (item == nullptr) return;
    has_worked_ = true;
    answers_left_ = options_.answers_per_resumption;
    item->run(*item);
  }
}

void event_loop::flush_dirty() noexcept {
  // What flushing fills again waits for the next turn: a step ends.
  decltype(dirty_) filled;
  filled.splice_back(dirty_);
  while (flushable* item = filled.pop_front()) item->flush(*item);
}

/// Asks the kernel again and again until there is something to do or it is time to sleep (false).
/// Sleep is not announced meanwhile: who posts a letter need not wake this thread.
bool event_loop::spin(time_point until) noexcept {
  time_point now = io_->now();
  if (std::exchange(has_worked_, false)) spins_until_ = saturated_sum(now, options_.idle.spin_for);
  while (now < spins_until_) {
    io_->enter(time_point::min());
    if (!ready_.empty() || mail_->box.has_letters() || finished()) return true;
    pause_processor();
    now = io_->now();
    if (now >= until) return true;
  }
  return false;
}

void event_loop::enter(time_point until) noexcept {
  if (!ready_.empty() || !dirty_.empty() || finished()) {
    io_->enter(time_point::min());
    return;
  }
  until = std::min(until, timers_.next_due());
  if (options_.idle.spins() && spin(until)) return;
  const bool may_sleep = mail_->box.prepare_to_sleep();
  io_->enter(may_sleep ? until : time_point::min());
  mail_->box.woke_up();
}

void event_loop::run_once(time_point until) noexcept {
  ++turns_;
  now_ = io_->now();
  if (mail_->box.drain(options_.messages_per_turn)) has_worked_ = true;
  run_ready();
  if (timers_.advance(now_, options_.timers_per_turn) != 0) has_worked_ = true;
  if (!dirty_.empty()) flush_dirty();
  enter(until);
}

bool event_loop::finished() const noexcept {
  return tasks_->active() == 0 && io_->quiescent() && ready_.empty() && dirty_.empty();
}

void event_loop::run() {
  while (!finished()) run_once(time_point::max());
  tasks_->rethrow_failure();
}

}  // namespace weft

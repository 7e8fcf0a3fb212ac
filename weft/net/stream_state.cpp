#include <weft/net/stream_state.hpp>

#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <tuple>
#include <utility>

#include <weft/coro/frame_pool.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/net/tls_state.hpp>

namespace weft::net::detail {

void socket_waiter::wake(result<void> how) noexcept {
  if (in_line.is_linked()) in_line.unlink();
  stop_registration::disarm();
  loop->timers().disarm(*this);
  outcome = how;
  loop->schedule(*this);
}

void socket_waiter::on_stop(stop_registration& self) noexcept {
  static_cast<socket_waiter&>(self).wake(fail(errc::cancelled));
}

void socket_waiter::on_deadline(timer& self) noexcept {
  static_cast<socket_waiter&>(self).wake(fail(errc::timed_out));
}

namespace {

/// nullptr: there is none.
void* pooled_memory(std::size_t size_bytes) noexcept {
  try {
    return frame_pool::allocate(size_bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

/// The parts of one sendmsg, kept in place until it has answered.
struct stream_state::gathered : msghdr {
  static void* operator new(std::size_t size_bytes, const std::nothrow_t&) noexcept {
    return pooled_memory(size_bytes);
  }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }
  gathered() noexcept : msghdr{} {}
  std::array<iovec, 16> parts;
};

stream_state::outgoing::outgoing(stream_state& of) noexcept
    : send_operation{&of.socket_, &on_sent}, timer{linger_kind}, owner{of} {}

void* stream_state::outgoing::operator new(std::size_t size_bytes, const std::nothrow_t&) noexcept {
  return pooled_memory(size_bytes);
}

void stream_state::outgoing::operator delete(void* memory, std::size_t size_bytes) noexcept {
  frame_pool::deallocate(memory, size_bytes);
}

stream_state::stream_state(event_loop& loop, descriptor& socket) noexcept
    : flushable{&on_flush}, loop_{loop}, socket_{socket}, queue_{loop.buffers()} {}

void* stream_state::operator new(std::size_t size_bytes) {
  return frame_pool::allocate(size_bytes);
}

void stream_state::operator delete(void* memory, std::size_t size_bytes) noexcept {
  frame_pool::deallocate(memory, size_bytes);
}

tls_state& stream_state::secured() noexcept { return static_cast<tls_state&>(*this); }

const tls_state& stream_state::secured() const noexcept {
  return static_cast<const tls_state&>(*this);
}

void stream_state::pump_busy() noexcept {
  if (is_secured_) secured().seal_and_send();
  // What has come since may be more than the pool's.
  if (sending() && !is_stalled_ && queue_.may_be_counted()) note_stalled();
  if (flushable::hook.is_linked()) flushable::hook.unlink();
}

bool stream_state::has_input() const noexcept {
  // The backend first: to answer it may hand what has come to the one who reads.
  return unread || loop_.io().has_input(socket()) || (reading_ != nullptr && reading_->buffer) ||
         (is_secured_ && secured().has_input());
}

bool stream_state::make_outgoing() noexcept {
  outgoing_ = new (std::nothrow) outgoing{*this};
  if (outgoing_ == nullptr) [[unlikely]]
    fail_sending(error::from_errno(ENOMEM));
  return outgoing_ != nullptr;
}

void stream_state::release_outgoing() noexcept {
  if (outgoing_->waiters.empty() && !abandoned_) delete std::exchange(outgoing_, nullptr);
}

/// True: sent as far as it goes, the operation's result says how far. False: it will be, or
/// nothing is sent any more.
bool stream_state::start_send() noexcept {
  // Not behind a gap.
  if (failure_.os_errno() != 0 || !has_outgoing()) [[unlikely]] {
    lose_queue();
    return false;
  }
  outgoing& send = *outgoing_;
  if (const std::string_view all = queue_.in_one_piece(); !all.empty()) [[likely]] {
    send.data = all.data();
    send.size = all.size();
  } else {
    gather();
  }
  send.cancelled = false;
  send.pending = !loop_.io().start(send);
  return !send.pending;
}

void stream_state::note_stalled() noexcept {
  is_stalled_ = true;
  loop_.memory().note_stalled(*outgoing_, outgoing::slow_kind);
}

void stream_state::note_progress() noexcept {
  if (std::exchange(is_stalled_, false)) loop_.memory().note_progress(*outgoing_);
}

std::size_t stream_state::outgoing::held_bytes(slow_peer& self) noexcept {
  return static_cast<outgoing&>(self).owner.queue_.counted_bytes();
}

void stream_state::outgoing::drop(slow_peer& self) noexcept {
  static_cast<outgoing&>(self).owner.drop();
}

void stream_state::drop() noexcept {
  is_stalled_ = false;
  give_up_output();
  if (reading_ == nullptr) return;
  if (is_secured_)
    secured().cancel_read();
  else if (reading_->pending)
    loop_.io().cancel(*reading_);
}

void stream_state::lose_queue() noexcept {
  queue_.clear();
  if (output_ends_) end_output();
}

/// Where there is no memory to gather several pieces: the first.
void stream_state::gather() noexcept {
  if (auto* made = new (std::nothrow) gathered) [[likely]] {
    made->msg_iov = made->parts.data();
    made->msg_iovlen = queue_.gather(made->parts);
    outgoing_->message = made;
    // In case it has no answer: here, since short replies do not come this way.
    if (!is_stalled_) note_stalled();
    return;
  }
  iovec first{};
  std::ignore = queue_.gather({&first, 1});
  outgoing_->data = static_cast<const char*>(first.iov_base);
  outgoing_->size = first.iov_len;
}

void stream_state::forget_gathered() noexcept {
  note_progress();
  delete static_cast<const gathered*>(std::exchange(outgoing_->message, nullptr));
}

void stream_state::finish_send() noexcept {
  outgoing& sent = *outgoing_;
  if (sent.message != nullptr) [[unlikely]]
    forget_gathered();
  if (failure_.os_errno() != 0) [[unlikely]]
    queue_.clear();  // given up, whether or not this one has left
  else if (sent.result >= 0) [[likely]]
    queue_.consume(static_cast<std::size_t>(sent.result));
  else
    fail_sending(error::from_errno(-sent.result));
  if (output_ends_) [[unlikely]]
    end_output();
  if (!sent.waiters.empty()) [[unlikely]]
    wake_waiters();
  release_outgoing();
}

void stream_state::fail_sending(error why) noexcept {
  if (failure_.os_errno() == 0) failure_ = why;
  queue_.clear();
}

void stream_state::end_output() noexcept {
  if (is_secured_) {
    secured().say_goodbye(true);
    return;
  }
  output_ends_ = !queue_.empty();
  if (!output_ends_) loop_.io().shutdown_write(socket());
}

void stream_state::on_sent(operation& op) noexcept {
  stream_state& self = static_cast<outgoing&>(op).owner;
  if (self.is_stalled_) [[unlikely]]
    self.note_progress();
  if (self.is_secured_) {
    self.secured().sent();
  } else {
    self.finish_send();
    self.pump();
    // The rest of a long reply, in one piece.
    if (self.sending() && !self.is_stalled_ && self.queue_.may_be_counted()) self.note_stalled();
  }
  self.end_if_abandoned();
}

bool stream_state::wait(socket_waiter& waiter, std::coroutine_handle<> waiting,
                        const environment& env) noexcept {
  if (has_outgoing()) return stand_in(outgoing_->waiters, waiter, waiting, env);
  waiter.outcome = write_outcome();
  return false;
}

void stream_state::wake_waiters() noexcept {
  while (socket_waiter* next = outgoing_->waiters.front()) {
    if (!may_write(next->at_most)) return;
    next->wake(write_outcome());
  }
}

bool stream_state::stand_in(socket_waiters& line, socket_waiter& waiter,
                            std::coroutine_handle<> waiting, const environment& env) noexcept {
  if (env.stop.stop_requested() || env.until.passed(loop_.now())) {
    waiter.outcome = fail(env.stop.stop_requested() ? errc::cancelled : errc::timed_out);
    return false;
  }
  waiter.loop = &loop_;
  waiter.waiting = waiting;
  line.push_back(waiter);
  env.stop.subscribe(waiter);
  if (!env.until.is_never()) loop_.timers().arm(waiter, env.until.when());
  return true;
}

void stream_state::give_up_sending() noexcept {
  failure_ = error{errc::cancelled, ECANCELED};
  if (is_secured_)
    secured().give_up_sending();
  else if (sending())
    loop_.io().cancel(*outgoing_);
  else
    queue_.clear();
}

void stream_state::give_up_output() noexcept {
  give_up_sending();
  if (outgoing_ != nullptr && !sending()) wake_waiters();
}

void stream_state::abandon(duration longest) noexcept {
  abandoned_ = true;
  if (is_secured_)
    secured().abandoned();
  else if (reading_ != nullptr)
    loop_.io().cancel(*reading_);
  pump();
  if (sending()) loop_.timers().arm(*outgoing_, loop_.now() + longest);
  end_if_abandoned();
}

void stream_state::outgoing::on_linger_over(timer& self) noexcept {
  static_cast<outgoing&>(self).owner.give_up_sending();
}

void stream_state::end_if_abandoned() noexcept {
  if (!abandoned_ || sending() || reading_ != nullptr) return;
  if (is_secured_ && !secured().stops_receiving()) return;
  loop_.io().abandon(socket());
  closed();
}

void stream_state::closed() noexcept {
  if (flushable::hook.is_linked()) flushable::hook.unlink();
  if (outgoing_ != nullptr) {
    loop_.timers().disarm(*outgoing_);
    note_progress();
    delete outgoing_;
  }
  if (is_secured_)
    delete &secured();
  else
    delete this;
}

}  // namespace weft::net::detail

#include <weft/net/udp_state.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <weft/coro/frame_pool.hpp>

namespace weft::net::detail {

/// One datagram in the queue. It stays in place until the kernel has let go of it.
struct udp_state::outgoing {
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }
  outgoing* next = nullptr;
  buffer_ref bytes;
  raw_address to;
};

udp_state::udp_state(event_loop& loop, descriptor& socket) noexcept
    : flushable{&on_flush}, loop_{loop}, send_{&socket, &on_sent} {
  send_.owner = this;
}

udp_state::~udp_state() {
  if (hook.is_linked()) hook.unlink();
  drop(queued_);
}

void udp_state::queue(const endpoint* to, std::string_view bytes) {
  buffer_ref copy = loop_.buffers().acquire();
  if (bytes.size() > buffer_pool::slot_capacity) {
    failure_ = fail({errc::limit_exceeded, EMSGSIZE});
  } else if (!copy) {
    failure_ = fail({errc::exhausted, ENOBUFS});
  } else {
    std::memcpy(copy.data(), bytes.data(), bytes.size());
    copy.resize(bytes.size());
    queue(to, std::move(copy));
  }
}

void udp_state::queue(const endpoint* to, buffer_ref&& bytes) {
  auto* added = new outgoing{.bytes = std::move(bytes), .to = {}};
  if (to != nullptr) added->to = to->raw();
  (last_ == nullptr ? first_ : last_->next) = added;
  last_ = added;
  if (++queued_ >= send_most)
    pump();
  else
    loop_.flush_later(*this);
}

void udp_state::pump() noexcept {
  while (!send_.pending && queued_ != 0) {
    if (!start_send()) return;
    finish_send();
  }
}

/// True: answered.
bool udp_state::start_send() noexcept {
  std::size_t count = 0;
  for (outgoing* o = first_; o != nullptr && count < send_most; o = o->next, ++count) {
    parts_[count] = {.iov_base = o->bytes.data(), .iov_len = o->bytes.size()};
    messages_[count] = {};
    msghdr& message = messages_[count].msg_hdr;
    message.msg_iov = &parts_[count];
    message.msg_iovlen = 1;
    message.msg_name = o->to.size_bytes == 0 ? nullptr : &o->to.storage;
    message.msg_namelen = o->to.size_bytes;
  }
  send_.messages = std::span{messages_}.first(count);
  send_.cancelled = false;
  send_.pending = !loop_.io().start(send_);
  return !send_.pending;
}

void udp_state::finish_send() noexcept {
  if (send_.result >= 0) {
    drop(static_cast<std::size_t>(send_.result));
  } else {
    failure_ = fail(error::from_errno(-send_.result));
    drop(1);
  }
  wake_waiters();
}

void udp_state::drop(std::size_t count) noexcept {
  for (; count > 0; --count, --queued_) delete std::exchange(first_, first_->next);
  if (first_ == nullptr) last_ = nullptr;
}

void udp_state::on_sent(operation& op) noexcept {
  udp_state& self = *static_cast<owned_send&>(op).owner;
  if (self.abandoned_) {
    self.end_if_abandoned();
    return;
  }
  self.finish_send();
  self.pump();
}

void udp_state::wake_waiters() noexcept {
  while (socket_waiter* next = waiters_.front()) {
    if (!may_send(next->at_most)) return;
    next->wake(outcome());
  }
}

result<void> udp_state::outcome() noexcept { return std::exchange(failure_, result<void>{}); }

bool udp_state::wait(socket_waiter& waiter, std::coroutine_handle<> waiting,
                     const environment& env) noexcept {
  if (env.stop.stop_requested() || env.until.passed(loop_.now())) {
    waiter.outcome = fail(env.stop.stop_requested() ? errc::cancelled : errc::timed_out);
    return false;
  }
  waiter.loop = &loop_;
  waiter.waiting = waiting;
  waiters_.push_back(waiter);
  env.stop.subscribe(waiter);
  if (!env.until.is_never()) loop_.timers().arm(waiter, env.until.when());
  return true;
}

std::span<datagram> udp_state::make_room() noexcept {
  for (datagram& d : received_) d.bytes.reset();
  return received_;
}

bool udp_state::receive_ended() noexcept {
  receiving_ = nullptr;
  return !end_if_abandoned();
}

void udp_state::abandon() noexcept {
  pump();
  abandoned_ = true;
  if (receiving_ != nullptr) loop_.io().cancel(*receiving_);
  if (send_.pending) loop_.io().cancel(send_);
  while (socket_waiter* next = waiters_.front()) next->wake(fail(errc::cancelled));
  end_if_abandoned();
}

/// True: it was, and nothing of this is left.
bool udp_state::end_if_abandoned() noexcept {
  if (!abandoned_ || send_.pending || receiving_ != nullptr) return false;
  loop_.io().abandon(socket());
  delete this;
  return true;
}

}  // namespace weft::net::detail

#include <weft/loop/sim/sim_backend.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <weft/base/assert.hpp>

namespace weft {
namespace {

/// 2026-01-01 00:00:00 UTC: when worlds begin by their wall clocks.
constexpr duration first_wall_time = std::chrono::seconds{1'767'225'600};

bool reads(const operation& op) noexcept {
  return op.kind == operation_kind::accept || op.kind == operation_kind::receive ||
         op.kind == operation_kind::receive_datagrams;
}

std::uint64_t checksum(const send_operation& op) noexcept {
  const iovec single{.iov_base = const_cast<char*>(op.data), .iov_len = op.size};
  const iovec* part = op.message != nullptr ? op.message->msg_iov : &single;
  const std::size_t parts = op.message != nullptr ? op.message->msg_iovlen : 1;
  // Four sums side by side: a multiplication need not wait for the one before.
  std::array<std::uint64_t, 4> sums{1, 2, 3, 4};
  for (const iovec* end = part + parts; part != end; ++part) {
    const char* at = static_cast<const char*>(part->iov_base);
    std::size_t left = part->iov_len;
    for (std::array<std::uint64_t, 4> words; left >= sizeof words;
         left -= sizeof words, at += sizeof words) {
      std::memcpy(&words, at, sizeof words);
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = (sums[i] ^ words[i]) * 0x9e3779b97f4a7c15;
    }
    for (; left > 0; --left)
      sums[0] = (sums[0] ^ static_cast<unsigned char>(*at++)) * 0x9e3779b97f4a7c15;
  }
  sim_trace sum;
  for (const std::uint64_t each : sums) sum.note(each);
  return sum.value();
}

}  // namespace

sim_backend::sim_backend(backend_context context, sim_host& host, std::unique_ptr<sim_network> own)
    : own_{std::move(own)},
      context_{context},
      host_{host},
      network_{*host.network},
      number_{network_.next_backend_number()} {
  host_.backends.push_back(this);
}

sim_backend::~sim_backend() {
  give_buffers_back();
  std::erase(host_.backends, this);
}

duration sim_backend::wall_now() const noexcept {
  return first_wall_time + (now() - sim_network::beginning) + host_.wall_offset;
}

result<raw_address> sim_backend::local_address(const descriptor& socket) const {
  return static_cast<const sim_socket&>(socket).local;
}

result<raw_address> sim_backend::peer_address(const descriptor& socket) const {
  return static_cast<const sim_socket&>(socket).remote;
}

void sim_backend::refuse_newcomers(descriptor& listener) noexcept {
  network_.refuse_newcomers(static_cast<sim_socket&>(listener));
}

bool sim_backend::has_input(descriptor& socket) noexcept {
  return static_cast<sim_socket&>(socket).readable_bytes() != 0;
}

peer_state sim_backend::state_of_peer(const descriptor& socket) const noexcept {
  const auto& end = static_cast<const sim_socket&>(socket);
  if (end.broken || end.dead) return peer_state::gone;
  return end.fin_arrived ? peer_state::silent : peer_state::open;
}

/// A peer acknowledges what its program has read.
std::size_t sim_backend::unacknowledged_bytes(const descriptor& socket) const noexcept {
  return network_.unread_bytes(static_cast<const sim_socket&>(socket));
}

void sim_backend::shutdown_write(descriptor& socket) noexcept {
  network_.shut_down(static_cast<sim_socket&>(socket));
}

bool sim_backend::start(operation& op) noexcept {
  network_.let_overlap(host_);
  if (op.target == nullptr) {
    op.result = -EOPNOTSUPP;
    return true;
  }
  sim_socket& socket = socket_of(op);
  WEFT_ASSERT(socket.open && socket.owner == this, "an operation needs a descriptor that is open");
  network_.trace().note(op.kind, socket.self.slot);
  if (op.kind == operation_kind::close) return start_close(op, socket);
  if (op.kind == operation_kind::connect && !socket.dead &&
      socket.state == sim_socket::phase::fresh) {
    raw_address to;
    const auto& request = static_cast<connect_operation&>(op);
    std::memcpy(&to.storage, request.address, request.address_bytes);
    to.size_bytes = request.address_bytes;
    network_.connect(socket, to);
  }
  const bool is_late = !socket.dead && network_.strikes(sim_fault::late_answer);
  if (!is_late && attempt(op, socket)) return true;
  park(op, socket, is_late);
  return false;
}

bool sim_backend::receive_now(receive_operation& op) noexcept {
  network_.let_overlap(host_);
  sim_socket& socket = socket_of(op);
  if (socket.readable_bytes() == 0 || network_.strikes(sim_fault::late_answer)) return false;
  op.buffer = context_.buffers.acquire();
  return op.buffer && receive(op, socket);
}

bool sim_backend::start_close(operation& op, sim_socket& socket) noexcept {
  op.result = 0;
  if (socket.dead || !network_.strikes(sim_fault::late_answer)) {
    network_.close(socket);
    return true;
  }
  WEFT_ASSERT(socket.reader.op == nullptr && socket.writer.op == nullptr,
              "close follows the last answer");
  socket.closer = &op;
  ++parked_;
  network_.later(sim_event::kind::close, socket, 0);
  return false;
}

void sim_backend::abandon(descriptor& socket) noexcept {
  network_.close(static_cast<sim_socket&>(socket));
}

void sim_backend::park(operation& op, sim_socket& socket, bool is_late) noexcept {
  const bool is_reader = reads(op);
  sim_place& place = is_reader ? socket.reader : socket.writer;
  WEFT_ASSERT(place.op == nullptr, "one operation a direction at a time");
  place.op = &op;
  ++place.number;
  ++parked_;
  if (op.kind == operation_kind::send) socket.offered = checksum(static_cast<send_operation&>(op));
  if (is_late)
    network_.later(is_reader ? sim_event::kind::attempt_read : sim_event::kind::attempt_write,
                   socket, place.number);
}

/// True: answered. False: it must wait.
bool sim_backend::attempt(operation& op, sim_socket& socket) noexcept {
  switch (op.kind) {
    case operation_kind::accept: return accept(static_cast<accept_operation&>(op), socket);
    case operation_kind::receive: return receive(static_cast<receive_operation&>(op), socket);
    case operation_kind::send: return send(static_cast<send_operation&>(op), socket);
    case operation_kind::receive_datagrams:
      return receive_datagrams(static_cast<receive_datagrams_operation&>(op), socket);
    case operation_kind::send_datagrams:
      op.result =
          network_.send_datagrams(socket, static_cast<send_datagrams_operation&>(op).messages);
      return true;
    case operation_kind::connect: return connect(static_cast<connect_operation&>(op), socket);
    default: op.result = -EOPNOTSUPP; return true;
  }
}

bool sim_backend::accept(accept_operation& op, sim_socket& listener) noexcept {
  if (listener.dead) {
    op.result = -EINVAL;
    return true;
  }
  if (listener.backlog.empty()) {
    op.result = -EAGAIN;
    return !op.waits;
  }
  if (host_.no_descriptors_until > network_.now()) {
    network_.count(sim_fault::no_descriptor);
    op.result = -EMFILE;
    return true;
  }
  if (network_.strikes(sim_fault::accept_failure)) {
    op.result = network_.dice().chance(1, 2) ? -ENFILE : -ENOMEM;
    return true;
  }
  sim_socket& accepted = *network_.take_from_line(listener);
  accepted.owner = this;
  op.accepted = &accepted;
  op.result = 0;
  return true;
}

bool sim_backend::receive(receive_operation& op, sim_socket& socket) noexcept {
  if (socket.readable_bytes() == 0) {
    op.buffer.reset();
    op.result = network_.receive(socket, nullptr, 0);
    return op.result != -EAGAIN;
  }
  if (!op.buffer) op.buffer = context_.buffers.acquire();
  if (!op.buffer) {
    starve(socket);
    return false;
  }
  op.result = network_.receive(socket, op.buffer.data(), op.buffer.capacity());
  op.buffer.resize(static_cast<std::size_t>(op.result));
  return true;
}

void sim_backend::starve(sim_socket& socket) noexcept {
  network_.count(sim_fault::no_buffer);
  starved_.push(socket);
}

bool sim_backend::receive_datagrams(receive_datagrams_operation& op, sim_socket& socket) noexcept {
  op.result = network_.receive_datagrams(socket, op.room, context_.buffers);
  if (op.result == -ENOBUFS) starve(socket);
  return op.result != -EAGAIN && op.result != -ENOBUFS;
}

bool sim_backend::send(send_operation& op, sim_socket& socket) noexcept {
  WEFT_ASSERT(socket.writer.op != &op || socket.offered == checksum(op),
              "the bytes of a send stay as they are until it has been answered");
  op.result = network_.send(socket, op);
  return op.result != -EAGAIN;
}

bool sim_backend::connect(connect_operation& op, sim_socket& socket) noexcept {
  op.result = -socket.connect_error;
  if (socket.dead) op.result = -ENETDOWN;
  return socket.dead || socket.state != sim_socket::phase::connecting;
}

void sim_backend::unpark(sim_socket& socket, sim_place& place) noexcept {
  operation& op = *std::exchange(place.op, nullptr);
  --parked_;
  if (&place == &socket.reader) starved_.forget(socket);
  network_.trace().note(socket.self.slot, op.kind, op.result);
  context_.ready.push(op, priority::normal);
}

void sim_backend::retry(sim_socket& socket, sim_place& place) noexcept {
  if (attempt(*place.op, socket)) unpark(socket, place);
}

void sim_backend::poke(sim_socket& socket, sim_place sim_socket::* which) noexcept {
  sim_place& place = socket.*which;
  if (place.op == nullptr || socket.is_starved(place)) return;
  if (network_.strikes(sim_fault::late_answer))
    network_.later(which == &sim_socket::reader ? sim_event::kind::attempt_read
                                                : sim_event::kind::attempt_write,
                   socket, place.number);
  else
    retry(socket, place);
}

void sim_backend::cancel(operation& op) noexcept {
  op.cancelled = true;
  if (op.target == nullptr || op.kind == operation_kind::close) return;
  sim_socket& socket = socket_of(op);
  sim_place& place = reads(op) ? socket.reader : socket.writer;
  if (place.op != &op)
    network_.count(sim_fault::answer_before_cancel);
  else if (!host_.down && network_.strikes(sim_fault::late_cancel))  // whom nothing reaches
    network_.later(reads(op) ? sim_event::kind::cancel_read : sim_event::kind::cancel_write, socket,
                   place.number);
  else
    answer_cancelled(socket, place);
}

void sim_backend::answer_cancelled(sim_socket& socket, sim_place& place) noexcept {
  network_.count(sim_fault::cancel_before_answer);
  if (place.op->kind == operation_kind::connect) {
    socket.state = sim_socket::phase::failed;
    socket.connect_error = ECONNABORTED;
  }
  place.op->result = -ECANCELED;
  unpark(socket, place);
}

void sim_backend::handle(const sim_event& event, sim_socket& socket) noexcept {
  if (event.what == sim_event::kind::close) {
    finish_close(socket);
    return;
  }
  const bool is_reader =
      event.what == sim_event::kind::attempt_read || event.what == sim_event::kind::cancel_read;
  sim_place& place = is_reader ? socket.reader : socket.writer;
  const bool is_same = place.op != nullptr && place.number == event.value;
  if (event.what == sim_event::kind::attempt_read || event.what == sim_event::kind::attempt_write) {
    if (is_same && !socket.is_starved(place)) retry(socket, place);
  } else if (is_same) {
    answer_cancelled(socket, place);
  } else {
    network_.count(sim_fault::answer_before_cancel);
  }
}

void sim_backend::fail_all(sim_socket& socket) noexcept {
  for (sim_place* place : {&socket.reader, &socket.writer}) {
    if (place->op == nullptr) continue;
    place->op->result = place->op->kind == operation_kind::accept ? -EINVAL : -ECONNRESET;
    unpark(socket, *place);
  }
  if (socket.closer != nullptr) finish_close(socket);
}

void sim_backend::finish_close(sim_socket& socket) noexcept {
  operation& op = *std::exchange(socket.closer, nullptr);
  network_.close(socket);
  --parked_;
  context_.ready.push(op, priority::normal);
}

std::vector<waiting_operation> sim_backend::waiting_operations() {
  std::vector<waiting_operation> all;
  if (parked_ == 0) return all;
  network_.for_each_socket_of(*this, [&](const sim_socket& socket) {
    for (const operation* each : {socket.reader.op, socket.writer.op, socket.closer})
      if (each != nullptr)
        all.push_back({.kind = each->kind, .fd = static_cast<int>(socket.self.slot)});
  });
  return all;
}

std::vector<lent_buffer> sim_backend::lent_buffers() {
  std::vector<lent_buffer> all;
  all.reserve(held_.size());
  for (const std::uint32_t slot : held_) all.push_back({.slot = slot});
  return all;
}

void sim_backend::hold_buffers(unsigned left) noexcept {
  for (std::uint32_t slot = 0; context_.buffers.take(slot);) held_.push_back(slot);
  for (; left > 0 && !held_.empty(); --left) {
    context_.buffers.release(held_.back());
    held_.pop_back();
  }
}

void sim_backend::give_buffers_back() noexcept {
  for (const std::uint32_t slot : held_) context_.buffers.release(slot);
  held_.clear();
  feed_starved();
}

void sim_backend::feed_starved() noexcept {
  starved_.feed([this] { return context_.buffers.acquire(); },
                [this](sim_socket& socket, buffer_ref&& buffer) {
                  give_buffer(*socket.reader.op, std::move(buffer));
                  retry(socket, socket.reader);
                });
}

/// Threads call it of loops that are alone in their world, where nothing is late.
void sim_backend::wake() noexcept {
  if (network_.is_driven() && !host_.down && network_.strikes(sim_fault::late_wake)) {
    ++wakes_under_way_;
    network_.wake_later(*this);
  } else {
    woken_.store(true, std::memory_order_release);
  }
}

void sim_backend::late_wake_arrived() noexcept {
  --wakes_under_way_;
  woken_.store(true, std::memory_order_release);
}

void sim_backend::enter(time_point until) noexcept {
  network_.let_overlap(host_);
  feed_starved();
  const bool was_woken = woken_.exchange(false, std::memory_order_acquire);
  if (network_.is_driven()) {
    sleeps_until_ = was_woken ? time_point::min() : until;
    return;
  }
  if (until == time_point::min() || was_woken || !context_.ready.empty()) return;
  WEFT_ASSERT(until != time_point::max() || network_.next_event() != time_point::max(),
              "deadlock: every task waits and nothing can wake one");
  network_.advance(std::min(until, network_.next_event()));
  network_.run_due();
}

std::unique_ptr<backend> make_sim_backend(backend_context context, sim_host* host) {
  if (host != nullptr) return std::make_unique<sim_backend>(context, *host, nullptr);
  auto own = std::make_unique<sim_network>();
  sim_host& only = own->add_host();
  return std::make_unique<sim_backend>(context, only, std::move(own));
}

}  // namespace weft

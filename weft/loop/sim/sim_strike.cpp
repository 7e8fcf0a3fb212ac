// What happens in a simulated world when an event is due, faults of the world among them.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>

#include <weft/loop/sim/sim_backend.hpp>
#include <weft/loop/sim/sim_network.hpp>

namespace weft {

using namespace std::chrono_literals;

/// An event of the network passes when neither the connection nor the way between the hosts is
/// blocked.
time_point sim_network::passage(const sim_socket& socket) const noexcept {
  const std::size_t pair = socket.host->index * hosts_.size() + socket.peer_host->index;
  return std::max(socket.stalled_until, partitioned_until_[pair]);
}

void sim_network::handle(const sim_event& event) {
  trace_.note(event.what, now_.time_since_epoch().count(), event.socket.slot, event.value);
  using enum sim_event::kind;
  switch (event.what) {
    case strike: this->strike(); return;
    case buffers_back:
      for (sim_backend* each : hosts_[event.value].backends) each->give_buffers_back();
      return;
    case wake: arrive_wake(event.value); return;
    case datagram: arrive_datagram(event.value); return;
    case restart: driver_->restarts(hosts_[event.value]); return;
    default: break;
  }
  sim_socket* socket = find(event.socket);
  if (socket == nullptr) return;
  if (event.what >= attempt_read)
    socket->owner->handle(event, *socket);
  else if (!socket->dead)
    handle_at_network(event, *socket);
}

/// The shard may have ended since.
void sim_network::arrive_wake(std::uint64_t backend_number) noexcept {
  for (sim_host& host : hosts_)
    for (sim_backend* each : host.backends)
      if (each->number() == backend_number) each->late_wake_arrived();
}

void sim_network::handle_at_network(const sim_event& event, sim_socket& socket) {
  using enum sim_event::kind;
  if (const time_point open = passage(socket); open > now_) {
    mark(socket);
    at(open + draw_latency(), event);
    return;
  }
  switch (event.what) {
    case syn: arrive_syn(socket); break;
    case connected:
      if (socket.state != sim_socket::phase::connecting) return;
      socket.connect_error = static_cast<int>(event.value);
      socket.state = event.value == 0 ? sim_socket::phase::connected : sim_socket::phase::failed;
      socket.owner->poke(socket, &sim_socket::writer);
      break;
    case arrival:
      if (socket.broken) return;
      socket.visible += event.value;
      socket.owner->poke(socket, &sim_socket::reader);
      break;
    case fin:
      socket.fin_arrived = true;
      if (!socket.fin_sent) count(sim_fault::half_close);
      socket.owner->poke(socket, &sim_socket::reader);
      break;
    default: arrive_rst(socket, static_cast<int>(event.value), event.value == ETIMEDOUT); break;
  }
}

/// What is still on its way when the peer breaks off in good order has been sent before, and comes
/// before; where the network breaks, it is lost.
void sim_network::arrive_rst(sim_socket& socket, int why, bool loses_bytes) {
  if (socket.broken) return;
  if (!loses_bytes && socket.visible != socket.inbox.size()) {
    deliver({.socket = socket.self,
             .value = static_cast<std::uint64_t>(why),
             .what = sim_event::kind::rst});
    return;
  }
  socket.inbox.resize(socket.visible);
  socket.broken = true;
  socket.failure = why;
  if (socket.state == sim_socket::phase::connecting) {
    socket.state = sim_socket::phase::failed;
    socket.connect_error = why;
  }
  socket.owner->poke(socket, &sim_socket::reader);
  socket.owner->poke(socket, &sim_socket::writer);
}

void sim_network::begin_faults() {
  faults_end_ = now_ + plan_.faults_last;
  at(now_ + draw_between(0ns, plan_.strike_gap), {.what = sim_event::kind::strike});
}

/// One kind, by weight, and when the next one comes.
void sim_network::strike() {
  if (faults_are_over()) return;
  using function = void (sim_network::*)();
  constexpr std::array<function, 8> strikes_of{
      &sim_network::strike_reset,       &sim_network::strike_stall,
      &sim_network::strike_partition,   &sim_network::strike_buffers,
      &sim_network::strike_descriptors, &sim_network::strike_pause,
      &sim_network::strike_clock,       &sim_network::strike_crash};
  constexpr auto first = static_cast<std::size_t>(first_world_fault);
  const std::span weights = std::span{plan_.rates}.subspan(first, strikes_of.size());
  std::uint64_t sum = 0;
  for (const std::uint16_t weight : weights) sum += weight;
  if (sum == 0) return;
  std::uint64_t drawn = dice_.below(sum);
  std::size_t index = 0;
  while (drawn >= weights[index]) drawn -= weights[index++];
  (this->*strikes_of[index])();
  at(now_ + draw_between(1us, plan_.strike_gap), {.what = sim_event::kind::strike});
}

/// One end of a connection, or nullptr if a few tries find none.
sim_socket* sim_network::draw_connection() {
  for (int tries = 0; tries < 4 && !sockets_.empty(); ++tries) {
    sim_socket& socket = sockets_[dice_.below(sockets_.size())];
    const bool is_connection = socket.open && socket.state == sim_socket::phase::connected;
    if (is_connection && !socket.dead && !socket.broken) return &socket;
  }
  return nullptr;
}

void sim_network::strike_reset() {
  sim_socket* socket = draw_connection();
  if (socket == nullptr) return;
  count(sim_fault::reset);
  mark(*socket);
  if (sim_socket* peer = find(socket->peer); peer != nullptr && !peer->dead)
    arrive_rst(*peer, ECONNRESET, true);
  arrive_rst(*socket, ECONNRESET, true);
}

void sim_network::strike_stall() {
  sim_socket* socket = draw_connection();
  if (socket == nullptr) return;
  count(sim_fault::stall);
  socket->stalled_until = now_ + draw_between(1ms, 2s);
}

void sim_network::strike_partition() {
  if (hosts_.size() < 2) return;
  const std::size_t one = dice_.below(hosts_.size());
  const std::size_t other = (one + 1 + dice_.below(hosts_.size() - 1)) % hosts_.size();
  count(sim_fault::partition);
  const time_point heals = now_ + draw_between(1ms, 2s);
  partitioned_until_[one * hosts_.size() + other] = heals;
  if (dice_.chance(3, 4)) partitioned_until_[other * hosts_.size() + one] = heals;  // or one way
}

void sim_network::strike_buffers() {
  sim_host& host = hosts_[dice_.below(hosts_.size())];
  if (host.down || host.backends.empty()) return;
  sim_backend& shard = *host.backends[dice_.below(host.backends.size())];
  shard.hold_buffers(dice_.between(0U, 3U));
  at(now_ + draw_between(1ms, 500ms), {.value = host.index, .what = sim_event::kind::buffers_back});
}

void sim_network::strike_descriptors() {
  sim_host& host = hosts_[dice_.below(hosts_.size())];
  host.no_descriptors_until = now_ + draw_between(1ms, 300ms);
}

void sim_network::strike_pause() {
  sim_host& host = hosts_[dice_.below(hosts_.size())];
  count(sim_fault::pause);
  host.paused_until = now_ + draw_between(1ms, 2s);
  mark_all(host);
}

void sim_network::strike_clock() {
  sim_host& host = hosts_[dice_.below(hosts_.size())];
  count(sim_fault::clock_step);
  host.wall_offset += draw_between(-1h, 1h);
}

void sim_network::strike_crash() {
  sim_host& host = hosts_[dice_.below(hosts_.size())];
  if (host.down || host.is_lasting || !is_driven()) return;
  count(sim_fault::crash);
  cut_off(host);
  driver_->crashed(host);
  at(now_ + draw_between(1ms, 1s), {.value = host.index, .what = sim_event::kind::restart});
}

}  // namespace weft

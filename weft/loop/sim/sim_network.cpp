#include <weft/loop/sim/sim_network.hpp>

#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include <weft/base/assert.hpp>
#include <weft/loop/sim/sim_addresses.hpp>
#include <weft/loop/sim/sim_backend.hpp>

namespace weft {
namespace {

constexpr std::uint16_t first_free_port = 49'152;
constexpr std::uint32_t free_ports = 65'536 - first_free_port;
/// Who asks for a connection and hears nothing asks again (RFC 6298 section 2).
constexpr duration asks_again_after = std::chrono::seconds{1};

socklen_t address_size(int family) noexcept {
  switch (family) {
    case AF_UNIX: return sizeof(sa_family_t);  // it has no name
    case AF_INET6: return sizeof(sockaddr_in6);
    default: return sizeof(sockaddr_in);
  }
}

}  // namespace

sim_network::sim_network(std::uint64_t seed, const sim_plan& plan) : dice_{seed}, plan_{plan} {}

sim_network::~sim_network() = default;

sim_host& sim_network::add_host() {
  sim_host& host = hosts_.emplace_back();
  host.network = this;
  host.index = static_cast<std::uint32_t>(hosts_.size() - 1);
  partitioned_until_.assign(hosts_.size() * hosts_.size(), time_point::min());
  return host;
}

bool sim_network::draw(sim_fault kind, std::uint16_t rate) {
  if (!dice_.chance(rate, 65'536)) return false;
  count(kind);
  trace_.note(kind);
  return true;
}

duration sim_network::draw_latency() {
  const duration usual = draw_between(plan_.latency_min, plan_.latency_max);
  return strikes(sim_fault::latency) ? usual * dice_.between(2, 30) : usual;
}

void sim_network::at(time_point when, sim_event event) {
  event.when = when;
  event.tie = dice_.next();
  events_.push(event);
}

void sim_network::later(sim_event::kind what, const sim_socket& socket, std::uint64_t value) {
  at(now_ + draw_latency(), {.socket = socket.self, .value = value, .what = what});
}

void sim_network::wake_later(const sim_backend& sleeper) {
  at(now_ + draw_latency(), {.value = sleeper.number(), .what = sim_event::kind::wake});
}

void sim_network::deliver(sim_event event) {
  if (is_calm())
    handle(event);
  else
    at(now_ + draw_latency(), event);
}

void sim_network::run_due() {
  while (events_.next() <= now_) {
    const sim_event event = events_.pop();
    if (event.number < latest_handled_) count(sim_fault::reordering);
    latest_handled_ = std::max(latest_handled_, event.number);
    handle(event);
  }
}

sim_socket& sim_network::add_socket(sim_backend& owner, sim_host& host) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(sockets_.size()));
    sockets_.emplace_back();
  }
  sim_socket& socket = sockets_[free_slots_.back()];
  sim_handle self{.slot = free_slots_.back(), .generation = socket.self.generation + 1};
  free_slots_.pop_back();
  std::string inbox = std::move(socket.inbox);  // its memory serves again
  inbox.clear();
  std::destroy_at(&socket);
  std::construct_at(&socket);
  socket.inbox = std::move(inbox);
  socket.self = self;
  socket.open = true;
  socket.owner = &owner;
  socket.host = &host;
  return socket;
}

void sim_network::remove_socket(sim_socket& socket) noexcept {
  WEFT_ASSERT(socket.reader.op == nullptr && socket.writer.op == nullptr,
              "close follows the last answer");
  socket.open = false;
  free_slots_.push_back(socket.self.slot);
}

sim_socket* sim_network::find(sim_handle handle) noexcept {
  if (handle.slot >= sockets_.size()) return nullptr;
  sim_socket& socket = sockets_[handle.slot];
  return socket.open && socket.self.generation == handle.generation ? &socket : nullptr;
}

std::size_t sim_network::sockets_of(const sim_backend& owner) const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      sockets_, [&](const sim_socket& s) { return s.open && s.owner == &owner; }));
}

raw_address sim_network::free_address(sim_host& host, const raw_address& like) noexcept {
  raw_address address = like;
  std::uint16_t* port = port_of(address);
  if (port == nullptr || *port != 0) return address;
  *port = htons(static_cast<std::uint16_t>(first_free_port + host.ports_used++ % free_ports));
  return address;
}

result<descriptor*> sim_network::listen(sim_backend& owner, const raw_address& address,
                                        const listen_options& options) {
  sim_host& host = owner.host();
  if (host.down) return fail(error::from_errno(ENETDOWN));
  const raw_address local = free_address(host, address);
  for (const sim_handle each : listeners_) {
    const sim_socket& other = *find(each);
    const bool is_sibling = other.owner != &owner && other.shared && options.shared;
    if (other.host == &host && same_address(other.local, local) && !is_sibling)
      return fail({errc::address_in_use, EADDRINUSE});
  }
  sim_socket& socket = add_socket(owner, host);
  socket.local = local;
  socket.listening = true;
  socket.shared = options.shared;
  socket.backlog_limit = static_cast<std::size_t>(options.backlog);
  listeners_.push_back(socket.self);
  return &socket;
}

result<descriptor*> sim_network::open_stream(sim_backend& owner, int family) {
  sim_host& host = owner.host();
  if (const auto refused = why_no_socket(host)) return fail(*refused);
  sim_socket& socket = add_socket(owner, host);
  socket.local = free_address(host, own_address(host, family));
  return &socket;
}

std::optional<error> sim_network::why_no_socket(const sim_host& host) noexcept {
  if (host.down) return error::from_errno(ENETDOWN);
  if (host.no_descriptors_until <= now_) return std::nullopt;
  count(sim_fault::no_descriptor);
  return error::from_errno(EMFILE);
}

/// Without a port.
raw_address sim_network::own_address(const sim_host& host, int family) const noexcept {
  raw_address own;
  own.storage.ss_family = static_cast<sa_family_t>(family);
  own.size_bytes = address_size(family);
  if (family == AF_INET)
    reinterpret_cast<sockaddr_in&>(own.storage).sin_addr.s_addr =
        htonl(is_driven() ? first_host_address + host.index : INADDR_LOOPBACK);
  return own;
}

void sim_network::refuse_newcomers(sim_socket& listener) noexcept {
  std::erase(listeners_, listener.self);
}

sim_host* sim_network::host_of(sim_host& asking, const raw_address& address) noexcept {
  if (!is_driven() || address.storage.ss_family != AF_INET) return &asking;
  const std::uint32_t number = ipv4_of(address);
  if (number >> 24 == IN_LOOPBACKNET) return &asking;
  const std::uint32_t index = number - first_host_address;
  return index < hosts_.size() ? &hosts_[index] : nullptr;
}

void sim_network::connect(sim_socket& socket, const raw_address& to) {
  socket.state = sim_socket::phase::connecting;
  socket.remote = to;
  socket.peer_host = host_of(*socket.host, to);
  if (socket.peer_host == nullptr) {
    socket.state = sim_socket::phase::failed;
    socket.connect_error = ENETUNREACH;
    return;
  }
  socket.connection = static_cast<std::uint32_t>(struck_.size());
  struck_.push_back(false);
  if (const std::uint16_t* port = port_of(socket.local)) {
    const std::size_t index = ntohs(*port) - first_free_port;
    auto& known = socket.host->connections;
    known.resize(std::max(known.size(), index + 1));
    known[index] = socket.connection;
  }
  deliver({.socket = socket.self, .what = sim_event::kind::syn});
}

bool sim_network::was_struck(const raw_address& client) const noexcept {
  raw_address address = client;
  const std::uint16_t* port = port_of(address);
  const std::uint32_t index = ipv4_of(address) - first_host_address;
  if (port == nullptr || index >= hosts_.size()) return false;
  const auto& known = hosts_[index].connections;
  const std::size_t number = static_cast<std::size_t>(ntohs(*port) - first_free_port);
  return number < known.size() && struck_[known[number]];
}

void sim_network::mark(const sim_socket& socket) noexcept {
  if (socket.connection < struck_.size()) struck_[socket.connection] = true;
}

void sim_network::mark_all(const sim_host& host) noexcept {
  for (const sim_socket& socket : sockets_) {
    const bool is_connection = socket.open && socket.peer_host != nullptr;
    if (is_connection && (socket.host == &host || socket.peer_host == &host)) mark(socket);
  }
}

sim_socket* sim_network::find_listener(sim_host& host, const raw_address& address) {
  const auto fits = [&](sim_handle each) {
    const sim_socket& listener = *find(each);
    return listener.host == &host && listens_at(listener.local, address);
  };
  const auto count = static_cast<std::uint64_t>(std::ranges::count_if(listeners_, fits));
  if (count == 0) return nullptr;
  std::uint64_t skipped = count == 1 ? 0 : dice_.below(count);
  for (const sim_handle each : listeners_)
    if (fits(each) && skipped-- == 0) return find(each);
  return nullptr;
}

void sim_network::arrive_syn(sim_socket& client) {
  if (client.state != sim_socket::phase::connecting) return;
  sim_socket* listener =
      client.peer_host->down ? nullptr : find_listener(*client.peer_host, client.remote);
  // Linux keeps one more in line than was said, and hears nobody who comes then.
  if (listener != nullptr && listener->backlog.size() > listener->backlog_limit) {
    at(now_ + asks_again_after, {.socket = client.self, .what = sim_event::kind::syn});
    return;
  }
  if (listener != nullptr) establish(client, *listener);
  deliver({.socket = client.self,
           .value = static_cast<std::uint64_t>(listener != nullptr ? 0 : ECONNREFUSED),
           .what = sim_event::kind::connected});
}

void sim_network::establish(sim_socket& client, sim_socket& listener) {
  sim_socket& served = add_socket(*listener.owner, *listener.host);
  served.state = sim_socket::phase::connected;
  served.in_line = true;
  served.local = client.remote;
  served.remote = client.local;
  served.peer = client.self;
  served.peer_host = client.host;
  served.connection = client.connection;
  client.peer = served.self;
  listener.backlog.push_back(served.self);
  listener.owner->poke(listener, &sim_socket::reader);
}

sim_socket* sim_network::take_from_line(sim_socket& listener) {
  sim_socket& first = *find(listener.backlog.front());
  listener.backlog.erase(listener.backlog.begin());
  first.in_line = false;
  return &first;
}

void sim_network::close(sim_socket& socket) {
  WEFT_ASSERT(socket.open, "a descriptor is closed once");
  trace_.note(socket.self.slot, socket.self.generation);
  if (socket.listening) {
    refuse_newcomers(socket);
    for (const sim_handle waiting : socket.backlog) close(*find(waiting));
  }
  const bool loses_bytes = socket.held_bytes() != 0 && !socket.broken;
  remove_socket(socket);
  if (socket.state != sim_socket::phase::connected || socket.dead) return;
  const bool is_reset = loses_bytes || socket.listening || socket.in_line;
  if (is_reset)
    deliver({.socket = socket.peer, .value = ECONNRESET, .what = sim_event::kind::rst});
  else if (!socket.fin_sent)
    deliver({.socket = socket.peer, .what = sim_event::kind::fin});
}

void sim_network::shut_down(sim_socket& socket) {
  if (socket.fin_sent || socket.state != sim_socket::phase::connected) return;
  socket.fin_sent = true;
  if (!socket.dead) deliver({.socket = socket.peer, .what = sim_event::kind::fin});
}

int sim_network::receive(sim_socket& socket, char* into, std::size_t room) {
  std::size_t size = std::min(socket.readable_bytes(), room);
  if (size == 0) {
    if (socket.dead) return -ECONNRESET;
    if (!socket.input_is_over()) return -EAGAIN;
    // After the end of the input nothing is told to a reader but that it has ended.
    return socket.fin_arrived ? 0 : -std::exchange(socket.failure, 0);
  }
  if (size > 1 && strikes(sim_fault::short_read))
    size = dice_.chance(1, 3) ? 1 : dice_.between<std::size_t>(1, size - 1);
  std::memcpy(into, socket.inbox.data() + socket.consumed, size);
  socket.consume(size);
  if (sim_socket* peer = find(socket.peer); peer != nullptr)
    peer->owner->poke(*peer, &sim_socket::writer);
  return static_cast<int>(size);
}

int sim_network::send(sim_socket& socket, const send_operation& op) {
  if (socket.dead) return -ECONNRESET;
  if (socket.broken) return socket.failure != 0 ? -std::exchange(socket.failure, 0) : -EPIPE;
  if (socket.state != sim_socket::phase::connected || socket.fin_sent) return -EPIPE;
  sim_socket* receiver = find(socket.peer);
  const iovec single{.iov_base = const_cast<char*>(op.data), .iov_len = op.size};
  const iovec* part = op.message != nullptr ? op.message->msg_iov : &single;
  const std::size_t parts = op.message != nullptr ? op.message->msg_iovlen : 1;
  std::size_t size = 0;
  for (std::size_t i = 0; i < parts; ++i) size += part[i].iov_len;
  if (receiver == nullptr || receiver->broken) {
    // Who has gone answers bytes with a reset, and who is down with nothing.
    if (!socket.peer_host->down)
      deliver({.socket = socket.self, .value = ECONNRESET, .what = sim_event::kind::rst});
    return static_cast<int>(size);
  }
  size = std::min(
      size, sim_socket::pipe_bytes - std::min(sim_socket::pipe_bytes, receiver->held_bytes()));
  if (size == 0) return -EAGAIN;
  if (size > 1 && strikes(sim_fault::short_write))
    size = dice_.chance(1, 3) ? 1 : dice_.between<std::size_t>(1, size - 1);
  for (std::size_t left = size; left > 0; ++part) {
    const std::size_t taken = std::min(part->iov_len, left);
    receiver->inbox.append(static_cast<const char*>(part->iov_base), taken);
    left -= taken;
  }
  deliver({.socket = receiver->self, .value = size, .what = sim_event::kind::arrival});
  return static_cast<int>(size);
}

void sim_network::cut_off(sim_host& host) {
  host.down = true;
  const bool is_silent = dice_.chance(1, 2);
  trace_.note(host.index, is_silent);
  std::erase_if(listeners_, [&](sim_handle each) { return find(each)->host == &host; });
  mark_all(host);
  for (sim_backend* each : host.backends) each->wake();
  for (sim_socket& socket : sockets_) {
    if (!socket.open || socket.host != &host || socket.dead) continue;
    socket.dead = true;
    // Who hears nothing gives up some time.
    const sim_event broken{.socket = socket.peer, .value = ETIMEDOUT, .what = sim_event::kind::rst};
    if (is_silent && find(socket.peer) != nullptr)
      at(now_ + draw_between(std::chrono::seconds{1}, std::chrono::seconds{20}), broken);
    else if (socket.state == sim_socket::phase::connected)
      deliver({.socket = socket.peer, .value = ECONNRESET, .what = sim_event::kind::rst});
    if (!socket.in_line) socket.owner->fail_all(socket);
  }
}

void sim_network::bring_back(sim_host& host) noexcept {
  host.down = false;
  host.lead = duration::zero();
}

}  // namespace weft

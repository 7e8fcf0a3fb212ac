// Datagrams in a simulated world: each is on its way by itself, so it may be lost, come twice, or
// come after one that was sent later.
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <weft/loop/sim/sim_addresses.hpp>
#include <weft/loop/sim/sim_backend.hpp>
#include <weft/loop/sim/sim_network.hpp>

namespace weft {
namespace {

/// What UDP over IPv4 can carry.
constexpr std::size_t datagram_limit_bytes = 65'507;
/// A socket that nobody reads keeps so many, and loses the rest.
constexpr std::size_t inbox_most = 256;

/// The kernel sends all datagrams of a peer to the same one of the sockets that share an address.
std::size_t share_of(const raw_address& peer, std::size_t sockets) noexcept {
  sim_trace sum;
  raw_address named = peer;
  const std::uint16_t* port = port_of(named);
  sum.note(ipv4_of(peer), port == nullptr ? 0 : *port);
  return sum.value() % sockets;
}

}  // namespace

result<descriptor*> sim_network::open_datagram(sim_backend& owner, int family,
                                               const datagram_options& options) {
  sim_host& host = owner.host();
  if (const auto refused = why_no_socket(host)) return fail(*refused);
  raw_address local = options.local != nullptr ? *options.local : own_address(host, family);
  local = free_address(host, local);
  for (const sim_socket& other : sockets_) {
    const bool is_taken =
        other.open && other.datagrams && other.host == &host && same_address(other.local, local);
    if (is_taken && !(other.shared && options.sharing == address_sharing::joins))
      return fail({errc::address_in_use, EADDRINUSE});
  }
  sim_socket& socket = add_socket(owner, host);
  socket.local = local;
  socket.datagrams = true;
  socket.shared = options.sharing != address_sharing::none;
  if (options.peer != nullptr) socket.remote = *options.peer;
  return &socket;
}

int sim_network::send_datagrams(sim_socket& socket, std::span<mmsghdr> messages) {
  if (socket.dead) return -ENETDOWN;
  if (socket.failure != 0) return -std::exchange(socket.failure, 0);
  int sent = 0;
  for (const mmsghdr& each : messages) {
    const int outcome = send_datagram(socket, each.msg_hdr);
    if (outcome != 0 && sent == 0) return -outcome;
    if (outcome != 0) break;
    ++sent;
    if (strikes(sim_fault::short_write)) break;
  }
  return sent;
}

/// As its receivers see it.
raw_address sim_network::source_address(const sim_socket& socket) const noexcept {
  raw_address from = socket.local;
  auto& in = reinterpret_cast<sockaddr_in&>(from.storage);
  if (from.storage.ss_family == AF_INET && in.sin_addr.s_addr == htonl(INADDR_ANY)) {
    const raw_address own = own_address(*socket.host, AF_INET);
    in.sin_addr = reinterpret_cast<const sockaddr_in&>(own.storage).sin_addr;
  }
  return from;
}

/// 0, or an errno.
int sim_network::send_datagram(sim_socket& socket, const msghdr& message) {
  raw_address to = socket.remote;
  if (message.msg_name != nullptr) {
    std::memcpy(&to.storage, message.msg_name, message.msg_namelen);
    to.size_bytes = message.msg_namelen;
  }
  if (to.size_bytes == 0) return EDESTADDRREQ;
  sim_host* const there = host_of(*socket.host, to);
  if (there == nullptr) return ENETUNREACH;
  sim_datagram sent;
  sent.to = to;
  sent.from = source_address(socket);
  sent.sender = socket.self;
  sent.there = there->index;
  sent.number = ++socket.datagrams_sent;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i)
    sent.bytes.append(static_cast<const char*>(message.msg_iov[i].iov_base),
                      message.msg_iov[i].iov_len);
  if (sent.bytes.size() > datagram_limit_bytes) return EMSGSIZE;
  if (strikes(sim_fault::datagram_loss)) return 0;
  if (strikes(sim_fault::datagram_copy)) carry(sent);
  carry(std::move(sent));
  return 0;
}

/// Puts a datagram on its way.
void sim_network::carry(sim_datagram sent) {
  std::uint32_t slot = static_cast<std::uint32_t>(under_way_.size());
  if (free_under_way_.empty()) {
    under_way_.push_back(std::move(sent));
  } else {
    slot = free_under_way_.back();
    free_under_way_.pop_back();
    under_way_[slot] = std::move(sent);
  }
  deliver({.value = slot, .what = sim_event::kind::datagram});
}

/// What a partition holds up is lost, as is what nobody has room for.
void sim_network::arrive_datagram(std::uint64_t slot) {
  sim_datagram come = std::move(under_way_[slot]);
  free_under_way_.push_back(static_cast<std::uint32_t>(slot));
  sim_socket* const sender = find(come.sender);
  sim_host& there = hosts_[come.there];
  if (there.down) return;
  const sim_host& here = sender != nullptr ? *sender->host : there;
  if (partitioned_until_[here.index * hosts_.size() + there.index] > now_) {
    count(sim_fault::datagram_loss);
    return;
  }
  sim_socket* const receiver = find_datagram_socket(there, come);
  if (receiver == nullptr) {
    // Who is connected hears that nobody is there.
    if (sender == nullptr || sender->remote.size_bytes == 0 || sender->dead) return;
    sender->failure = ECONNREFUSED;
    sender->owner->poke(*sender, &sim_socket::reader);
    return;
  }
  if (receiver->inbox_datagrams.size() >= inbox_most) return;
  if (sender != nullptr) {
    if (come.number < sender->latest_arrived) count(sim_fault::datagram_reordering);
    sender->latest_arrived = std::max(sender->latest_arrived, come.number);
  }
  receiver->inbox_datagrams.push_back(std::move(come));
  receiver->owner->poke(*receiver, &sim_socket::reader);
}

sim_socket* sim_network::find_datagram_socket(sim_host& there, const sim_datagram& come) {
  std::vector<sim_socket*>& fitting = fitting_;
  fitting.clear();
  for (sim_socket& each : sockets_) {
    const bool is_there = each.open && each.datagrams && each.host == &there && !each.dead;
    if (!is_there || !listens_at(each.local, come.to)) continue;
    // Who is connected hears its peer alone.
    if (each.remote.size_bytes != 0 && !same_address(each.remote, come.from)) continue;
    fitting.push_back(&each);
  }
  if (fitting.empty()) return nullptr;
  return fitting[share_of(come.from, fitting.size())];
}

int sim_network::receive_datagrams(sim_socket& socket, std::span<datagram> room,
                                   buffer_pool& buffers) {
  if (socket.dead) return -ENETDOWN;
  if (socket.failure != 0) return -std::exchange(socket.failure, 0);
  std::size_t count = std::min(room.size(), socket.inbox_datagrams.size());
  if (count == 0) return -EAGAIN;
  if (count > 1 && strikes(sim_fault::short_read)) count = dice_.between<std::size_t>(1, count);
  std::size_t taken = 0;
  for (; taken < count; ++taken) {
    datagram& into = room[taken];
    if (!into.bytes) into.bytes = buffers.acquire();
    if (!into.bytes) break;
    const sim_datagram& from = socket.inbox_datagrams[taken];
    const std::size_t size = std::min(from.bytes.size(), datagram_most_bytes);
    std::memcpy(into.bytes.data(), from.bytes.data(), size);
    into.bytes.resize(size);
    into.peer = from.from;
    into.size_bytes = from.bytes.size();
  }
  socket.inbox_datagrams.erase(socket.inbox_datagrams.begin(),
                               socket.inbox_datagrams.begin() + static_cast<std::ptrdiff_t>(taken));
  return taken == 0 ? -ENOBUFS : static_cast<int>(taken);
}

}  // namespace weft

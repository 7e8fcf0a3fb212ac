#include <weft/loop/mesh.hpp>

#include <bit>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft {

mesh::mesh(unsigned size, mesh_options options)
    : size_{size},
      options_{options},
      members_{std::make_unique<member[]>(size)},
      rings_{
          std::make_unique<std::atomic<message_ring*>[]>(static_cast<std::size_t>(size) * size)} {
  WEFT_ASSERT(size > 0, "a mesh has a shard at least");
}

mesh::~mesh() {
  for (unsigned from = 0; from < size_; ++from) {
    WEFT_ASSERT(members_[from].loop == nullptr, "a mesh outlives its loops");
    for (unsigned to = 0; to < size_; ++to) delete ring(from, to).load();
  }
}

/// Both ends may come here at once, for the same ring.
message_ring& mesh::open_ring(unsigned from, unsigned to) {
  std::atomic<message_ring*>& place = ring(from, to);
  message_ring* there = place.load(std::memory_order_acquire);
  if (there != nullptr) return *there;
  auto made = std::make_unique<message_ring>(options_.ring_capacity);
  if (place.compare_exchange_strong(there, made.get())) return *made.release();
  return *there;
}

void mesh::ring_bell(unsigned shard, doorbell::bits place) noexcept {
  member& rung = members_[shard];
  if (!rung.bell.ring(place)) return;
  const std::lock_guard lock{rung.mutex};
  if (rung.loop != nullptr) rung.loop->io().wake();
}

void mesh::enlist(unsigned shard, event_loop& loop) noexcept {
  member& added = members_[shard];
  WEFT_ASSERT(shard < size_ && !has_ended(shard), "a shard of a mesh lives once");
  const std::lock_guard lock{added.mutex};
  WEFT_ASSERT(added.loop == nullptr, "a shard of a mesh has one loop");
  added.loop = &loop;
}

void mesh::discharge(unsigned shard) noexcept {
  {
    const std::lock_guard lock{members_[shard].mutex};
    members_[shard].loop = nullptr;
  }
  give_up(shard);
}

void mesh::give_up(unsigned shard) noexcept {
  members_[shard].ended.store(true, std::memory_order_release);
  // Who has sent it something that it has not looked at takes that back.
  for (unsigned peer = 0; peer < size_; ++peer)
    if (peer != shard) ring_bell(peer, doorbell::of_peer(shard));
}

result<void> mesh::post(unsigned shard, unique_function<void()> work) {
  const std::lock_guard lock{members_[shard].mutex};
  if (event_loop* const loop = members_[shard].loop) return loop->post(std::move(work));
  return fail(has_ended(shard) ? errc::closed : errc::unavailable);
}

void mesh::request_stop(unsigned shard) noexcept { ring_bell(shard, doorbell::stop); }

void mesh::request_stop() noexcept {
  for (unsigned shard = 0; shard < size_; ++shard) request_stop(shard);
}

loop_gauges mesh::gauges(unsigned shard) const noexcept {
  const std::lock_guard lock{members_[shard].mutex};
  const event_loop* const loop = members_[shard].loop;
  return loop != nullptr ? loop->gauges() : loop_gauges{};
}

mesh_port::mesh_port(mesh& shards, unsigned index, event_loop& loop)
    : mesh_{shards}, index_{index}, loop_{loop}, links_{std::make_unique<link[]>(shards.size())} {
  told_.reserve(shards.size());
}

mesh_port::~mesh_port() { WEFT_ASSERT(is_idle(), "a shard ends after what it has to say"); }

doorbell& mesh_port::bell() const noexcept { return mesh_.members_[index_].bell; }

void mesh_port::connect(unsigned peer) {
  WEFT_ASSERT(peer < mesh_.size() && peer != index_, "another shard of this mesh");
  if (links_[peer].out != nullptr) return;
  static_cast<void>(mesh_.open_ring(peer, index_));
  links_[peer].out = &mesh_.open_ring(index_, peer);
}

void mesh_port::send(unsigned peer, message& item) noexcept {
  if (mesh_.has_ended(peer)) {
    item.on_arrival(item, nullptr);
    return;
  }
  link& to = links_[peer];
  if (to.out == nullptr) to.out = mesh_.ring(index_, peer).load(std::memory_order_acquire);
  ++sent_;
  if (to.waiting.empty() && to.out->push(&item)) {
    tell_later(peer);
    return;
  }
  to.waiting.push_back(item);
  ++waiting_;
}

bool mesh_port::take_back(message& item) noexcept {
  if (!item.in_line.is_linked()) return false;
  item.in_line.unlink();
  --waiting_;
  --sent_;
  return true;
}

void mesh_port::tell_later(unsigned peer) noexcept {
  if (!std::exchange(links_[peer].told, true)) told_.push_back(peer);
}

void mesh_port::tell() noexcept {
  for (const unsigned peer : told_) {
    links_[peer].told = false;
    mesh_.ring_bell(peer, doorbell::of_peer(index_));
  }
  told_.clear();
}

unsigned mesh_port::deliver(unsigned limit) noexcept {
  const doorbell::bits rung = std::exchange(leftover_, 0) | bell().take(doorbell::peers);
  unsigned left = limit;
  // Begins where the last call ended, so that one who always has something does not keep the rest
  // waiting.
  const unsigned first = first_bit_;
  for (doorbell::bits todo = std::rotr(rung, static_cast<int>(first)); todo != 0;
       todo &= todo - 1) {
    const unsigned bit = (static_cast<unsigned>(std::countr_zero(todo)) + first) % 64;
    const bool had_time = left > 0;
    for (unsigned peer = bit; peer < mesh_.size(); peer += doorbell::peer_bits)
      if (!serve(peer, left)) leftover_ |= doorbell::of_peer(peer);
    if (had_time && left == 0) first_bit_ = (bit + 1) % 64;
  }
  return limit - left;
}

/// True: nothing more has come from `peer`.
bool mesh_port::serve(unsigned peer, unsigned& left) noexcept {
  if (peer == index_) return true;
  if (mesh_.has_ended(peer))
    reclaim(peer);
  else if (!links_[peer].waiting.empty())
    send_waiting(peer);
  message_ring* const in = mesh_.ring(peer, index_).load(std::memory_order_acquire);
  if (in == nullptr) return true;
  for (; left > 0; --left) {
    message* const next = in->pop();
    if (next == nullptr) break;
    next->on_arrival(*next, this);
  }
  if (in->release()) tell_later(peer);
  return left > 0;
}

void mesh_port::send_waiting(unsigned peer) noexcept {
  link& to = links_[peer];
  while (message* const next = to.waiting.front()) {
    if (!to.out->push(next)) return;
    to.waiting.erase(*next);
    --waiting_;
    tell_later(peer);
  }
}

/// Takes back what `peer` will not look at any more: this side of the ring is both sides' now.
void mesh_port::reclaim(unsigned peer) noexcept {
  link& to = links_[peer];
  if (to.out == nullptr) return;
  while (message* const lost = to.out->pop()) lost->on_arrival(*lost, nullptr);
  while (message* const lost = to.waiting.front()) {
    to.waiting.erase(*lost);
    --waiting_;
    lost->on_arrival(*lost, nullptr);
  }
}

}  // namespace weft

#include <weft/service/event_bus.hpp>

#include <bit>

#include <weft/base/assert.hpp>
#include <weft/coro/shielded.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft {
namespace {

task<void> until_all_are_back(event& back) { static_cast<void>(co_await back.wait()); }

}  // namespace

/// One lane's place in the loop's ready queue.
struct event_bus::runner : runnable {
  runner() noexcept : runnable{&on_run} {}
  static void on_run(runnable& self) noexcept;

  runners* all = nullptr;
  unsigned lane = 0;
};

/// Nothing can be taken out of a ready queue: so the runners outlive a bus that ends while some of
/// them are in there.
struct event_bus::runners {
  explicit runners(event_bus& of) noexcept : owner{&of} {
    for (unsigned i = 0; i < lane_count; ++i) {
      lanes[i].all = this;
      lanes[i].lane = i;
    }
  }

  event_bus* owner;  // nullptr: it has ended
  std::array<runner, lane_count> lanes;
  unsigned scheduled = 0;
};

void event_bus::runner::on_run(runnable& self) noexcept {
  auto& ready = static_cast<runner&>(self);
  runners& all = *ready.all;
  --all.scheduled;
  if (all.owner != nullptr)
    all.owner->run(ready.lane);
  else if (all.scheduled == 0)
    delete &all;
}

/// Brings the lanes back that had their share of a turn: the flush step comes after all that is
/// ready.
struct event_bus::rest : flushable {
  explicit rest(event_bus& of) noexcept : flushable{&on_flush}, owner{of} {}
  rest(const rest&) = delete;
  rest& operator=(const rest&) = delete;
  ~rest() {
    if (hook.is_linked()) hook.unlink();
  }
  static void on_flush(flushable& self) noexcept { static_cast<rest&>(self).owner.end_rest(); }

  event_bus& owner;
};

event_bus::event_bus(event_options bounds, event_loop& loop)
    : loop_{loop},
      bound_{bounds.bound},
      rings_{event_ring{chunks_}, event_ring{chunks_}, event_ring{chunks_}, event_ring{chunks_},
             event_ring{chunks_}},
      options_{bounds},
      runners_{new runners{*this}},
      rest_{std::make_unique<rest>(*this)},
      coroutines_{environment{.stop = {}, .until = {}, .runs_on = &loop}} {
  WEFT_ASSERT(bounds.capacity > 0 && bounds.capacity <= bounds.bound,
              "an event bus has room for one event at least, and its bound is no less than its "
              "capacity");
  WEFT_ASSERT(bounds.events_per_turn > 0 && bounds.coroutines_max > 0,
              "an event bus tells something in each turn");
}

event_bus::~event_bus() {
  WEFT_ASSERT(coroutines_.active() == 0,
              "an event bus ends after its handlers: co_await stop() first");
  closed_ = true;
  drop_queued();
  runners_->owner = nullptr;
  if (runners_->scheduled == 0) delete runners_;
}

event_record& event_bus::add_records(event_type& wanted) {
  const std::uint32_t number = wanted.enlist();
  const std::uint32_t known = event_type::count();
  all_records_.reserve(known);
  record_table_.reserve(known);
  while (all_records_.size() < known) {
    event_type& type = event_type::at(static_cast<std::uint32_t>(all_records_.size()));
    all_records_.push_back(std::make_unique<event_record>(type));
    record_table_.push_back(all_records_.back().get());
  }
  records_ = record_table_.data();
  records_known_ = known;
  return *records_[number];
}

error event_bus::refuse(event_record& record) noexcept {
  ++record.refused;
  return closed_ ? errc::closed : errc::limit_exceeded;
}

std::vector<event_statistics> event_bus::statistics() const {
  std::vector<event_statistics> all;
  for (const auto& record : all_records_) {
    const event_statistics one = record->statistics();
    if (one.published != 0 || one.refused != 0 || record->duties > record->type.has_end())
      all.push_back(one);
  }
  return all;
}

priority event_bus::band_of(unsigned lane) noexcept {
  return static_cast<priority>(lane <= due ? lane : lane - 1);
}

/// A lane that was empty: the loop runs it among what is as urgent.
void event_bus::wake(unsigned sleeping) noexcept {
  occupied_ |= 1U << sleeping;
  go_on(sleeping);
}

void event_bus::go_on(unsigned lane) noexcept {
  ++runners_->scheduled;
  loop_.schedule(runners_->lanes[lane], band_of(lane));
}

void event_bus::run(unsigned lane) noexcept {
  if (turn_ != loop_.turns()) {
    turn_ = loop_.turns();
    left_ = options_.events_per_turn;
  }
  if (lane == due)
    run_due();
  else
    run_band(lane, rings_[ring_of(lane)]);
  if (queued_ == 0 && closed_) drained_.set();
}

/// Whether a lane does not go on now: it is brought back later.
bool event_bus::stands_back(unsigned lane) noexcept {
  if (left_ == 0) {
    resting_ |= 1U << lane;
    loop_.flush_later(*rest_);
    return true;
  }
  if (running_ >= options_.coroutines_max) {
    resting_ |= 1U << lane;
    paused_ = true;
    return true;
  }
  // A lane more urgent is in the ready queue as well, or stands back itself.
  if ((occupied_ & ((1U << lane) - 1)) != 0) {
    go_on(lane);
    return true;
  }
  return false;
}

/// To a release, which the loop sees to between two pieces of work, of which a lane is one; and
/// critical events to whatever is as urgent and waits, such as a release that was seen to.
bool event_bus::gives_way(unsigned lane) const noexcept {
  if (lane == critical && loop_.has_ready(priority::critical)) return true;
  return loop_.timers().has_exact() && loop_.io().now() >= loop_.timers().next_due();
}

void event_bus::run_band(unsigned lane, event_ring& ring) noexcept {
  while (!ring.empty()) {
    if (stands_back(lane)) return;
    pass_unheard(ring);
    if (left_ != 0 && !ring.empty()) tell_next(ring);
    if (somebody_waits_for_room()) [[unlikely]]
      serve_room();
    if (gives_way(lane)) [[unlikely]]
      return go_on(lane);
  }
  occupied_ &= ~(1U << lane);
}

/// Lets go of the first events as long as nobody hears of them, within this turn's share. Nobody
/// else's code runs meanwhile: so one look at who listens is enough for all of a type in a row.
void event_bus::pass_unheard(event_ring& ring) noexcept {
  unsigned left = left_;
  while (left != 0 && !ring.empty()) {
    const std::uintptr_t header = event_ring::header_at(ring.front());
    event_record& record = record_in(header);
    if (record.duties != 0 || listen_to_all_ != 0 || has_ticket(header)) break;
    const std::size_t bytes = record.cell_bytes;
    const unsigned before = left;
    do {
      ring.pop(bytes);
      --left;
    } while (left != 0 && !ring.empty() && event_ring::header_at(ring.front()) == header);
    record.leave_queue(before - left);
  }
  queued_ -= left_ - left;
  left_ = left;
}

void event_bus::tell_next(event_ring& ring) noexcept {
  std::byte* const cell = ring.front();
  const std::uintptr_t header = event_ring::header_at(cell);
  event_record& record = record_in(header);
  const std::size_t bytes = record.cell_bytes + (has_ticket(header) ? event_ticket_bytes : 0);
  --left_;
  leaves(record);
  tell(cell);
  ring.pop(bytes);
}

void event_bus::run_due() noexcept {
  while (!dues_.empty()) {
    if (stands_back(due)) return;
    --left_;
    const event_heap::item next = dues_.take();
    event_record& record = record_in(event_ring::header_at(next.cell));
    if (next.due < loop_.now()) ++record.late;
    leaves(record);
    tell(next.cell);
    event_heap::free(next);
    if (somebody_waits_for_room()) serve_room();
    if (gives_way(due)) return go_on(due);
  }
  occupied_ &= ~(1U << due);
}

void event_bus::end_rest() noexcept {
  for (unsigned lanes = std::exchange(resting_, 0U); lanes != 0; lanes &= lanes - 1)
    go_on(static_cast<unsigned>(std::countr_zero(lanes)));
}

void event_bus::end_pause() noexcept {
  if (std::exchange(paused_, false)) end_rest();
}

/// Each event that waited goes in before anybody else's can: those from other shards first, which
/// have room up to the bound.
void event_bus::serve_room() noexcept {
  crossings_.serve_line();
  while (queued_ < options_.capacity && !room_.empty()) {
    auto& first = static_cast<detail::event_room_waiter&>(*room_.front());
    first.wake(first.deliver());
  }
}

// What crosses (event_crossing.hpp).

bool event_bus::is_elsewhere(unsigned shard) const noexcept {
  const mesh_port* const port = loop_.port();
  WEFT_ASSERT(port == nullptr ? shard == loop_.shard() : shard < port->shards().size(),
              "an event is published to a shard of its loop's mesh");
  return shard != loop_.shard();
}

result<void> event_bus::connect(unsigned shard, event_record& record) {
  if (closed_ || crossings_.under_way() >= bound_) return fail(refuse(record));
  mesh_port& port = *loop_.port();
  if (port.shards().has_ended(shard)) {
    ++record.refused;
    return fail(errc::closed);
  }
  port.connect(shard);
  return {};
}

std::size_t event_bus::connect_others() {
  mesh_port* const port = loop_.port();
  if (port == nullptr) return 0;
  std::size_t others = 0;
  for (unsigned shard = 0; shard < port->shards().size(); ++shard) {
    if (shard == loop_.shard() || port->shards().has_ended(shard)) continue;
    port->connect(shard);
    ++others;
  }
  return others;
}

/// A shard that has ended since leaves one over.
void event_bus::send_all(event_crossings::batch& copies) noexcept {
  if (copies.sealed.empty()) return;
  const mesh& shards = loop_.port()->shards();
  for (unsigned shard = 0; shard < shards.size() && !copies.sealed.empty(); ++shard)
    if (shard != loop_.shard() && !shards.has_ended(shard))
      crossings_.send(shard, *copies.sealed.pop_front());
}

bool event_bus::put_arrived(event_record& record, priority band, void* in_cell) noexcept {
  event_ring& ring = rings_[static_cast<unsigned>(band)];
  std::byte* const cell = ring.claim(record.cell_bytes);
  if (cell == nullptr) return false;
  ::new (cell) std::uintptr_t{reinterpret_cast<std::uintptr_t>(&record)};
  if (record.cell_bytes != event_header_bytes)  // else nothing of it is kept
    record.type.how().relocate(in_cell, cell + event_header_bytes);
  ring.commit(record.cell_bytes);
  taken(record, lane_of(band));
  return true;
}

/// An envelope is back. One that comes back at once, while room is served, is seen by the loop
/// here.
void event_bus::serve_crossing_room() noexcept {
  if (std::exchange(serves_crossing_room_, true)) return;
  while (crossings_.under_way() < options_.capacity && !crossing_room_.empty()) {
    auto& first = static_cast<detail::event_room_waiter&>(*crossing_room_.front());
    first.wake(first.deliver());
  }
  serves_crossing_room_ = false;
}

task<result<void>> event_bus::stop() {
  closed_ = true;
  bound_ = 0;
  room_.wake_all(fail(errc::closed));
  crossing_room_.wake_all(fail(errc::closed));
  crossings_.close();
  result<void> drained;
  if (queued_ != 0) drained = co_await drained_.wait();
  if (!drained) drop_queued();
  coroutines_.request_stop();
  co_await coroutines_.join();
  // Nobody may ask that these be left: they are memory of this shard.
  while (crossings_.under_way() != 0) {
    crossings_.all_back().reset();
    co_await shielded(until_all_are_back(crossings_.all_back()), deadline::never());
  }
  co_return drained;
}

void event_bus::drop_queued() noexcept {
  for (event_ring& ring : rings_)
    while (!ring.empty()) ring.pop(drop_cell(ring.front()));
  while (!dues_.empty()) {
    const event_heap::item dropped = dues_.take();
    drop_cell(dropped.cell);
    event_heap::free(dropped);
  }
}

/// Gives the bytes of the cell.
std::size_t event_bus::drop_cell(std::byte* cell) noexcept {
  const std::uintptr_t header = event_ring::header_at(cell);
  event_record& record = record_in(header);
  leaves(record);
  ++record.dropped;
  std::size_t before = event_header_bytes;
  if (has_ticket(header)) {
    ticket_at(cell + before).answer(fail(errc::closed));
    before += event_ticket_bytes;
  }
  record.type.how().destroy(cell + before);
  return record.cell_bytes + before - event_header_bytes;
}

}  // namespace weft

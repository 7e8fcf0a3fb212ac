#include <weft/service/event_crossing.hpp>

#include <utility>

#include <weft/base/assert.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/event_bus.hpp>

namespace weft {
namespace {

/// Those of all loops that this thread runs, the newest first: few.
constinit thread_local event_crossings* known = nullptr;

}  // namespace

event_envelope* event_envelope::make(event_bus& from, event_type& type, priority band) {
  void* memory = nullptr;
  try {
    memory = frame_pool::allocate(sizeof(event_envelope) + type.how().cell_bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return ::new (memory) event_envelope{from, from.loop_.shard(), type, band};
}

void event_envelope::free() noexcept {
  const std::size_t size_bytes = bytes();
  this->~event_envelope();
  frame_pool::deallocate(this, size_bytes);
}

void event_envelope::tear() noexcept {
  type_.how().destroy(in_cell());
  free();
}

void event_envelope::on_arrival(message& item, mesh_port* there) noexcept {
  event_envelope& self = static_cast<part&>(item).of;
  if (there == nullptr) {  // the other shard has ended, and this is its sender's
    self.type_.how().destroy(self.in_cell());
    self.sender_.crossings_.came_back(self);
    return;
  }
  if (event_crossings* const to = event_crossings::of(there->loop()))
    to->arrive(self, *there);
  else
    event_crossings::drop(self, *there);
}

void event_envelope::on_return(message& item, mesh_port* home) noexcept {
  WEFT_ASSERT(home != nullptr, "a shard ends after its event bus");
  event_envelope& self = static_cast<part&>(item).of;
  self.sender_.crossings_.came_back(self);
}

event_crossings::event_crossings(event_bus& bus, event_loop& loop)
    : bus_{bus}, loop_{loop}, own_{lifetime::current()} {
  // What keeps the service is there then when something is sent, where nothing may fail.
  if (own_ != nullptr) own_->prepare_use();
  next_ = std::exchange(known, this);
}

event_crossings::~event_crossings() {
  WEFT_ASSERT(under_way_ == 0,
              "an event bus ends after what it has sent to other shards: co_await stop() first");
  close();
  event_crossings** at = &known;
  while (*at != nullptr && *at != this) at = &(*at)->next_;
  WEFT_ASSERT(*at == this, "an event bus ends on the thread that it was made on");
  *at = next_;
}

event_crossings* event_crossings::of(const event_loop& loop) noexcept {
  event_crossings* first = nullptr;
  for (event_crossings* each = known; each != nullptr; each = each->next_)
    if (&each->loop_ == &loop) first = each;
  return first;
}

void event_crossings::send(unsigned shard, event_envelope& sealed) noexcept {
  if (under_way_++ == 0 && own_ != nullptr) kept_.emplace(*own_);
  loop_.port()->send(shard, sealed.outward_);
}

void event_crossings::arrive(event_envelope& came, mesh_port& there) noexcept {
  if (bus_.closed_) {
    drop(came, there);
    return;
  }
  came.there_ = &there;
  line_.push_back(came);
  serve_line();
}

void event_crossings::serve_line() noexcept {
  while (!line_.empty() && bus_.queued_ < bus_.bound_) {
    event_envelope& first = *line_.pop_front();
    if (deliver(first))
      first.there_->send(first.sender_shard_, first.back_);
    else
      drop(first, *first.there_);
  }
}

/// False: no memory.
bool event_crossings::deliver(event_envelope& came) noexcept {
  try {
    event_record& record = bus_.record_of(came.type_);
    return bus_.put_arrived(record, came.band_, came.in_cell());
  } catch (...) {
    return false;
  }
}

void event_crossings::drop(event_envelope& came, mesh_port& there) noexcept {
  came.type_.how().destroy(came.in_cell());
  there.send(came.sender_shard_, came.back_);
}

void event_crossings::close() noexcept {
  while (event_envelope* const left = line_.pop_front()) drop(*left, *left->there_);
}

void event_crossings::came_back(event_envelope& home) noexcept {
  home.free();
  if (--under_way_ == 0) {
    all_back_.set();
    kept_.reset();
  }
  bus_.serve_crossing_room();
}

}  // namespace weft

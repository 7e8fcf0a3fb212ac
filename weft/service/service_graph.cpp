#include <weft/service/service_graph.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::detail {
namespace {

constexpr unsigned patterns_nested_max = 16;

constinit std::atomic<std::uint32_t> graphs = 0;  // so many have been made

/// How deep an instance stands in instances made for instances.
unsigned depth_of(const service_record& instance) noexcept {
  unsigned depth = 0;
  for (const service_record* at = &instance; at->asked_by != nullptr; at = at->asked_by) ++depth;
  return depth;
}

void destroy_object(service_record& record) noexcept {
  if (record.state != service_state::added && record.kind->destroy != nullptr)
    record.kind->destroy(record);
}

}  // namespace

service_graph::service_graph() noexcept
    : first_generation_{graphs.fetch_add(1, std::memory_order_relaxed) << 16U | 1U} {}

service_graph::~service_graph() {
  for (records* const each : {&waiting_, &patterns_})
    while (service_record* const last = each->last()) {
      each->erase(*last);
      last->kind->release(*last);
    }
  while (service_record* const last = made_.last()) {
    made_.erase(*last);
    last->request_end();
    destroy_object(*last);
    last->kind->release(*last);
  }
}

interface_slot& service_graph::slot_of(interface_key& interface) {
  const std::uint32_t number = number_of(interface);
  if (number >= slots_.size()) slots_.resize(number + 1);
  std::unique_ptr<interface_slot>& slot = slots_[number];
  if (!slot) {
    slot = std::make_unique<interface_slot>();
    slot->interface = &interface;
  }
  return *slot;
}

void service_graph::enter(provision& added) {
  interface_slot& slot = slot_of(*added.interface);
  if (slot.looking.first != nullptr) grown_.push_back(&slot);
  if (!slot.push_back(added) && !std::exchange(slot.is_in_question, true))
    crowded_.push_back(&slot);
}

service_handle service_graph::insert(service_record& added) {
  if (free_handles_.empty()) {
    added.index = static_cast<std::uint32_t>(handles_.size());
    handles_.push_back({&added, first_generation_});
  } else {
    added.index = free_handles_.back();
    free_handles_.pop_back();
    handles_[added.index].record = &added;
  }
  added.has_handle = true;
  waiting_.push_back(added);
  enter(added.own);
  return {added.index, handles_[added.index].generation};
}

void service_graph::lend(service_record& added, void* object) {
  added.object = added.own.object = object;
  added.state = service_state::made;
  added.connected = true;
  made_.push_back(added);
  enter(added.own);
  tell_started(added);
}

service_record* service_graph::find(service_handle named) const noexcept {
  if (named.index >= handles_.size()) return nullptr;
  const place_of_handle& place = handles_[named.index];
  return place.generation == named.generation ? place.record : nullptr;
}

void service_graph::provide_as(service_record& record, interface_key& interface,
                               void* (*cast)(void*) noexcept) {
  WEFT_ASSERT(record.state == service_state::added, "say what a service is before it is made");
  provision* added = &record.own;
  if (std::exchange(record.is_interfaces, true)) {
    while (added->further) added = added->further.get();
    added->further = std::make_unique<provision>();
    added = added->further.get();
    added->owner = &record;
  } else {
    slot_of(*added->interface).erase(*added);
  }
  added->interface = &interface;
  added->cast = cast;
  enter(*added);
}

void service_graph::name(service_record& record, std::string_view name) {
  for (provision* each = &record.own; each != nullptr; each = each->further.get())
    if (each->stand_in() == nullptr) slot_of(*each->interface).erase(*each);
  record.own_name = &*names_.emplace(name).first;
  for (provision* each = &record.own; each != nullptr; each = each->further.get())
    if (each->stand_in() == nullptr) enter(*each);
}

void service_graph::make_per_consumer(service_record& record) {
  WEFT_ASSERT(record.state == service_state::added && !record.per_consumer,
              "say once, before it is made, that a service is per consumer");
  record.per_consumer = true;
  waiting_.erase(record);
  patterns_.push_back(record);
}

void service_graph::make_lazy(service_record& record) noexcept { record.lazy = has_lazy_ = true; }

void service_graph::bind(service_record& record, interface_key& interface,
                         service_handle provider) {
  service_record* const of = find(provider);
  provision* found = of == nullptr ? nullptr : &of->own;
  while (found != nullptr && found->interface != &interface) found = found->further.get();
  if (found == nullptr) {
    wrong_bindings_.push_back(
        {&record,
         weft::format(
             "{0} is bound to {1}, which is no {2}: bind<{2}>() takes the handle of one that has "
             "been added to the same container",
             record.title(), of == nullptr ? "a handle that names nobody" : of->title(),
             interface.name)});
    return;
  }
  for (std::size_t i = 0; i < record.kind->need_count; ++i) {
    need& each = record.needs[i];
    if (record.kind->needs[i].interface != &interface || each.provider != nullptr) continue;
    each.provider = found;
    of->is_bound = true;
    return;
  }
  WEFT_ASSERT(false, "bind() is for what the constructor needs, each need once");
}

result<void> service_graph::make_all() {
  WEFT_ASSERT(cursor_ == nullptr, "what a constructor needs, it takes as a parameter");
  outcome_ = {};
  complaints_.clear();
  tell_mistakes();
  put_in_stand_ins();
  look_again();
  hopeless_ = false;
  pass_over();
  if (outcome_ && !waiting_.empty()) {
    hopeless_ = true;  // what is optional stands in a circle, or cannot be made
    pass_over();
  }
  while (service_record* const left = ready_.pop_front()) left->queued = false;
  if (outcome_ && !waiting_.empty()) complain_of_unmade();
  return outcome_;
}

/// Those who have looked in vain look again where somebody has come.
void service_graph::look_again() {
  for (interface_slot* const slot : std::exchange(grown_, {})) {
    need* next = nullptr;
    for (need* each = slot->looking.first; each != nullptr; each = next) {
      next = each->next;
      service_record& consumer = *each->consumer;
      const need_kind& wanted = consumer.kind_of(*each);
      provision* found = choose(*slot, wanted);
      if (found != nullptr && found->owner->per_consumer) found = instance_for(consumer, *found);
      if (found == nullptr) continue;
      slot->looking.erase(*each);
      if (wanted.form != need_form::optional) --consumer.missing;
      link(*each, *found);
      if (changing_) consider(consumer);
    }
  }
}

void service_graph::pass_over() {
  cursor_ = waiting_.first;
  while (cursor_ != nullptr && outcome_) {
    service_record& next = *cursor_;
    cursor_ = next.next;
    const bool is_due = !next.lazy || (next.passed && is_wanted(next));
    if (is_due && next.hold == service_hold::none) try_make(next);
    drain();
  }
  cursor_ = nullptr;
}

bool service_graph::can_be_made(const service_record& record) const noexcept {
  return record.missing == 0 && (record.hoped_for == 0 || hopeless_) &&
         record.hold == service_hold::none;
}

/// Its turn has come before: does it go now, or with what is optional only?
void service_graph::consider(service_record& record) {
  if (!record.passed || record.state != service_state::added || record.hold != service_hold::none)
    return;
  if (can_be_made(record)) {
    if (!record.lazy || is_wanted(record)) queue(record);
    return;
  }
  if (has_lazy_) wake_needs(record);
  if (changing_ && record.missing == 0) hoping_.push_back(&record);
}

/// Whether somebody waits for a lazy one, or has it.
bool service_graph::is_wanted(const service_record& lazy) noexcept {
  if (lazy.asked_for) return true;
  for (const provision* each = &lazy.own; each != nullptr; each = each->further.get())
    for (const need* asking = each->consumers.first; asking != nullptr; asking = asking->next) {
      const service_record& consumer = *asking->consumer;
      const bool waits = consumer.passed && consumer.hold == service_hold::none;
      if (consumer.state != service_state::added || waits) return true;
    }
  return false;
}

/// What sleeps, if nothing else is lacking. Who has been woken waits for what it needs itself.
void service_graph::wake_needs(const service_record& of) noexcept {
  const auto sleeps = [](const need& one) {
    return one.provider != nullptr && one.provider->owner->lazy &&
           one.provider->owner->state == service_state::added &&
           one.provider->owner->hold == service_hold::none;
  };
  for (std::size_t i = 0; i < of.kind->need_count; ++i) {
    const need& each = of.needs[i];
    const need_form form = of.kind->needs[i].form;
    const bool is_required = form == need_form::required || form == need_form::named;
    const bool is_there = each.provider != nullptr && each.provider->object != nullptr;
    if (is_required && !is_there && !sleeps(each)) return;
  }
  for (std::size_t i = 0; i < of.kind->need_count; ++i) {
    if (!sleeps(of.needs[i])) continue;
    service_record& needed = *of.needs[i].provider->owner;
    if (!needed.passed || can_be_made(needed)) queue(needed);
  }
}

void service_graph::try_make(service_record& record) {
  if (!record.connected) connect(record);
  if (!goes_on()) return;
  if (changing_ && refuse_mistaken(record)) return;
  if (can_be_made(record)) return make(record);
  record.passed = true;
  consider(record);
  if (changing_) queue_needs(record);
}

/// Those that have only been added: somebody who is asked for needs them.
void service_graph::queue_needs(const service_record& of) noexcept {
  if (of.hold != service_hold::none) return;
  for (std::size_t i = 0; i < of.kind->need_count; ++i) {
    const provision* const provider = of.needs[i].provider;
    if (provider == nullptr || provider->owner->connected || provider->owner->lazy) continue;
    if (can_be_made(*provider->owner)) queue(*provider->owner);
  }
}

void service_graph::queue(service_record& record) noexcept {
  if (std::exchange(record.queued, true)) return;
  ready_.push_back(record);
}

void service_graph::drain() {
  while (goes_on()) {
    service_record* const next = ready_.pop_front();
    if (next == nullptr) return;
    next->queued = false;
    if (next->state == service_state::added) try_make(*next);
  }
}

void service_graph::connect(service_record& consumer) {
  consumer.connected = true;
  for (std::size_t i = 0; i < consumer.kind->need_count; ++i) {
    need& each = consumer.needs[i];
    const need_kind& wanted = consumer.kind->needs[i];
    each.slot = &slot_of(*wanted.interface);
    if (wanted.form == need_form::all) continue;
    provision* found = in_place_of(each.provider);
    if (found == nullptr) found = choose(*each.slot, wanted);
    if (found != nullptr && found->owner->per_consumer) found = instance_for(consumer, *found);
    if (found != nullptr) {
      link(each, *found);
    } else {
      if (wanted.form != need_form::optional) ++consumer.missing;
      each.slot->looking.push_back(each);
    }
  }
}

/// Without a name, T is the only one there is, or the only one that has no name.
provision* service_graph::choose(const interface_slot& slot, const need_kind& wanted) noexcept {
  if (wanted.form == need_form::named) {
    if (!slot.by_name) return nullptr;
    const auto found = slot.by_name->find(wanted.name);
    return found == slot.by_name->end() ? nullptr : found->second;
  }
  if (slot.providers == 1) return slot.all.first;
  return slot.unnamed_count == 1 ? slot.unnamed : nullptr;
}

void service_graph::link(need& asking, provision& found) {
  asking.provider = &found;
  found.consumers.push_back(asking);
  if (found.object != nullptr) return;
  if (asking.consumer->state == service_state::added)
    ++asking.consumer->open_needs(asking);
  else if (found.owner->lazy)
    queue(*found.owner);
}

/// Made at once where its own needs allow, so that it stands before its consumer in the order.
provision* service_graph::instance_for(service_record& consumer, const provision& of) {
  const service_record& pattern = *of.owner;
  if (depth_of(consumer) == patterns_nested_max) {
    complain(errc::invalid_argument,
             weft::format("{} is per consumer and needs, in a circle, one of its own: {}",
                          pattern.kind->name, consumer.title()));
    return nullptr;
  }
  service_record& instance = *pattern.kind->copy(pattern);
  instance.asked_by = &consumer;
  instance.own_name = pattern.own_name;
  instance.own.interface = of.interface;
  instance.own.cast = of.cast;
  waiting_.push_back(instance);
  try_make(instance);
  return &instance.own;
}

void service_graph::make(service_record& record) {
  if (record.made_as != 0 && record.kind->copy == nullptr)
    return complain_of_throw(record, "its options cannot be copied, and went into the first one");
  try {
    const lifetime::making now{record};
    record.object = record.kind->make(record);
  } catch (const std::exception& why) {
    return complain_of_throw(record, why.what());
  } catch (...) {
    return complain_of_throw(record, "it threw something that is no std::exception");
  }
  if (cursor_ == &record) cursor_ = record.next;
  if (changing_ && record.lazy) losing_.push_back(&record);
  record.state = service_state::made;
  record.made_as = ++makings_;
  waiting_.erase(record);
  made_.push_back(record);
  for (provision* each = &record.own; each != nullptr; each = each->further.get()) {
    each->object = each->cast == nullptr ? record.object : each->cast(record.object);
    for (need* awaited = each->consumers.first; awaited != nullptr; awaited = awaited->next)
      arrived(*awaited);
  }
}

void service_graph::arrived(need& awaited) {
  service_record& consumer = *awaited.consumer;
  if (consumer.state != service_state::added) return;
  --consumer.open_needs(awaited);
  consider(consumer);
}

const provision* service_graph::find(const need_kind& wanted) const noexcept {
  const std::uint32_t number = number_of(*wanted.interface);
  if (number >= slots_.size() || !slots_[number]) return nullptr;
  return choose(*slots_[number], wanted);
}

std::optional<service_handle> service_graph::handle_of(interface_key& interface,
                                                       std::string_view name) const {
  const need_form form = name.empty() ? need_form::required : need_form::named;
  const provision* const found = find({&interface, form, name});
  if (found == nullptr || !found->owner->has_handle) return std::nullopt;
  return service_handle{found->owner->index, handles_[found->owner->index].generation};
}

}  // namespace weft::detail

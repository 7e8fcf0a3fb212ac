// What a graph does while the program runs: takes services down, makes them anew, forgets them.
#include <weft/service/service_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace weft::detail {
namespace {

constexpr std::size_t few = 8;  // as many as most changes concern: room for them is made once

bool is_service(const need_kind& wanted) noexcept { return wanted.form != need_form::all; }

bool has_started(const provision& one) noexcept {
  const bool is_lent = one.owner->kind->make == nullptr;
  return one.object != nullptr && (is_lent || one.owner->state == service_state::started);
}

/// What it lacks, from the beginning.
void count_open_needs(service_record& of) noexcept {
  of.missing = of.hoped_for = 0;
  for (std::size_t i = 0; i < of.kind->need_count; ++i) {
    const need& each = of.needs[i];
    const need_kind& wanted = of.kind->needs[i];
    if (!is_service(wanted)) continue;
    const bool looks = each.provider == nullptr;
    if (!looks && each.provider->object != nullptr) continue;
    if (wanted.form != need_form::optional || !looks) ++of.open_needs(each);
  }
}

}  // namespace

result<void> service_graph::make_more(const std::vector<service_record*>& first) {
  outcome_ = {};
  complaints_.clear();
  changing_ = true;
  put_in_stand_ins();
  look_again();
  for (service_record* const each : first) {
    each->asked_for = true;
    if (each->state == service_state::added) queue(*each);
  }
  drain();
  hopeless_ = true;  // what is optional and has not come will not
  for (std::size_t next = 0; next < hoping_.size();) {  // it grows meanwhile
    consider(*hoping_[next++]);
    drain();
  }
  hoping_.clear();
  hopeless_ = changing_ = false;
  for (service_record* const each : first) each->asked_for = false;
  return outcome_;
}

std::vector<service_record*> service_graph::with_instances(service_record& one) {
  std::vector<service_record*> found;
  found.reserve(few);
  found.push_back(&one);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t of_need = 0; of_need < found[i]->kind->need_count; ++of_need) {
      const provision* const provider = found[i]->needs[of_need].provider;
      if (provider != nullptr && provider->owner->asked_by == found[i])
        found.push_back(provider->owner);
    }
  return found;
}

std::vector<service_record*> service_graph::with_dependants(
    const std::vector<service_record*>& roots) {
  std::vector<service_record*> found;
  found.reserve(few);
  const auto take = [&found](service_record& one) {
    if (one.state == service_state::added || std::exchange(one.going, true)) return;
    found.push_back(&one);
  };
  for (service_record* const root : roots) take(*root);
  for (std::size_t next = 0; next < found.size();)  // it grows meanwhile
    for (const provision* each = &found[next++]->own; each != nullptr; each = each->further.get())
      for (const need* asking = each->consumers.first; asking != nullptr; asking = asking->next)
        if (asking->consumer->kind_of(*asking).form != need_form::optional) take(*asking->consumer);
  for (service_record* const each : found) each->going = false;
  std::ranges::sort(found, std::ranges::greater{}, &service_record::made_as);
  return found;
}

std::vector<service_record*> service_graph::made_services() {
  std::vector<service_record*> found;
  for (service_record* each = last_made(); each != nullptr; each = made_before(*each))
    if (each->kind->make != nullptr) found.push_back(each);
  return found;
}

std::vector<service_record*> service_graph::take_unneeded(const service_record* wanted,
                                                          const environment& asking) {
  const auto waits = [&asking](const service_record& one) {
    for (const environment* at = &asking; at != nullptr; at = at->called_by)
      if (at->owner == &one) return true;
    return false;
  };
  const auto is_needed = [](const service_record& of) {
    for (const provision* each = &of.own; each != nullptr; each = each->further.get())
      for (const need* one = each->consumers.first; one != nullptr; one = one->next)
        if (one->consumer->state != service_state::added) return true;
    return false;
  };
  std::vector<service_record*> found;
  std::vector<service_record*> later;
  for (std::size_t next = 0; next < losing_.size();) {  // it grows meanwhile
    service_record& each = *losing_[next++];
    if (each.state == service_state::added && each.passed && !is_wanted(each)) {
      each.passed = false;
      note_loss(each);
    } else if (each.state != service_state::added && &each != wanted && !is_needed(each)) {
      (waits(each) ? later : found).push_back(&each);
    }
  }
  losing_ = std::move(later);
  std::ranges::sort(found, std::ranges::greater{}, &service_record::made_as);
  const auto twice = std::ranges::unique(found);
  found.erase(twice.begin(), twice.end());
  return found;
}

/// Those whom it needs may have lost the last who does.
void service_graph::note_loss(const service_record& of) {
  if (!has_lazy_) return;
  for (std::size_t i = 0; i < of.kind->need_count; ++i)
    if (const provision* const lost = of.needs[i].provider; lost != nullptr && lost->owner->lazy)
      losing_.push_back(lost->owner);
}

void service_graph::hide(service_record& going) noexcept {
  for (provision* each = &going.own; each != nullptr; each = each->further.get()) {
    if (std::exchange(each->object, nullptr) == nullptr) continue;
    for (need* asking = each->consumers.first; asking != nullptr; asking = asking->next) {
      service_record& consumer = *asking->consumer;
      if (consumer.state == service_state::added) ++consumer.open_needs(*asking);
      // Who could not live with this one may be able to with the next.
      if (consumer.hold == service_hold::failed) consumer.hold = service_hold::none;
    }
  }
}

void service_graph::unmake(service_record& gone) noexcept {
  gone.request_end();
  if (gone.kind->destroy != nullptr) gone.kind->destroy(gone);
  gone.renew();
  gone.object = nullptr;
  gone.state = service_state::added;
  gone.passed = true;
  note_loss(gone);
  made_.erase(gone);
  waiting_.push_front(gone);  // the last made comes first: the order stays
  count_open_needs(gone);
}

void service_graph::erase(service_record& gone) {
  WEFT_ASSERT(gone.state == service_state::added && gone.kind->make != nullptr,
              "what is forgotten has been taken down before");
  note_loss(gone);
  std::erase(losing_, &gone);
  std::erase_if(wrong_bindings_, [&gone](const wrong_binding& each) { return each.of == &gone; });
  if (gone.connected) unlink_needs(gone);
  if (gone.is_bound) unbind(gone);
  forget_stand_in(gone);
  for (provision* each = &gone.own; each != nullptr; each = each->further.get()) {
    unlink_consumers(*each);
    interface_slot& slot = slot_of(*each->interface);
    if (gone.has_handle && each->stand_in() == nullptr) slot.erase(*each);
    if (slot.looking.first != nullptr) grown_.push_back(&slot);  // another may be the only one now
  }
  if (gone.has_handle) free_handle(gone.index);
  if (gone.stands_in)  // and whose place it has taken are named by theirs
    for (std::uint32_t i = 0; i < handles_.size(); ++i)
      if (handles_[i].record == &gone) free_handle(i);
  waiting_.erase(gone);
  gone.kind->release(gone);
}

void service_graph::free_handle(std::uint32_t index) {
  handles_[index].record = nullptr;
  ++handles_[index].generation;
  free_handles_.push_back(index);
}

void service_graph::unlink_needs(service_record& of) noexcept {
  for (std::size_t i = 0; i < of.kind->need_count; ++i) {
    need& each = of.needs[i];
    if (!is_service(of.kind->needs[i])) continue;
    (each.provider != nullptr ? each.provider->consumers : each.slot->looking).erase(each);
  }
}

void service_graph::unlink_consumers(provision& of) {
  interface_slot& slot = slot_of(*of.interface);
  while (need* const asking = of.consumers.first) {
    service_record& consumer = *asking->consumer;
    of.consumers.erase(*asking);
    asking->provider = nullptr;
    slot.looking.push_back(*asking);
    const bool hoped = consumer.kind_of(*asking).form == need_form::optional;
    if (hoped && consumer.state == service_state::added) --consumer.hoped_for;
  }
}

/// Those who have not been looked at yet know their providers by bind() alone.
void service_graph::unbind(const service_record& from) noexcept {
  for (service_record* each = waiting_.first; each != nullptr; each = each->next) {
    if (each->connected) continue;
    for (std::size_t i = 0; i < each->kind->need_count; ++i) {
      need& one = each->needs[i];
      if (one.provider != nullptr && one.provider->owner == &from) one.provider = nullptr;
    }
  }
}

void* service_graph::started(interface_key& interface) const noexcept {
  const provision* const found = find(interface);
  return found != nullptr && has_started(*found) ? found->object : nullptr;
}

event& service_graph::next_start(interface_key& interface) {
  interface_slot& slot = slot_of(interface);
  if (!slot.awaited) {
    slot.awaited = std::make_unique<event>();
    ++awaited_count_;
  }
  return *slot.awaited;
}

void service_graph::tell_started(service_record& up) noexcept {
  if ((awaited_count_ == 0 && follower_count_ == 0) || up.asked_by != nullptr) return;
  for (provision* each = &up.own; each != nullptr; each = each->further.get()) {
    const interface_slot& slot = *slots_[number_of(*each->interface)];
    if (slot.followers && each->stand_in() == nullptr)
      slot.followers->for_each<service_follower>(
          [each](service_follower& told) { told.came(*each); });
    if (!slot.awaited) continue;
    slot.awaited->set();
    slot.awaited->reset();
  }
}

void service_graph::tell_leaving(std::span<service_record* const> going) noexcept {
  if (follower_count_ == 0) return;
  const std::uint64_t departure = ++departures_;
  for (service_record* const each : going) each->going = true;
  for (service_record* const one : going) {
    if (one->state != service_state::started || one->asked_by != nullptr) continue;
    for (provision* each = &one->own; each != nullptr; each = each->further.get()) {
      const interface_slot& slot = *slots_[number_of(*each->interface)];
      if (!slot.followers || each->stand_in() != nullptr) continue;
      void* const object = each->cast == nullptr ? one->object : each->cast(one->object);
      slot.followers->for_each<service_follower>(
          [&](service_follower& told) { told.goes(*each, object, departure); });
    }
  }
  for (service_record* const each : going) each->going = false;
}

event_registration service_graph::follow(interface_key& interface,
                                         std::unique_ptr<service_follower> added, lifetime* owner) {
  interface_slot& slot = slot_of(interface);
  if (!slot.followers) slot.followers = std::make_unique<event_listeners>(follower_count_);
  service_follower& follower = *added;
  event_registration following = slot.followers->add(std::move(added), owner);
  for (const provision* each = slot.all.first; each != nullptr; each = each->next)
    if (has_started(*each) && !each->owner->going) follower.came(*each);
  return following;
}

void service_graph::wake_all() noexcept {
  if (awaited_count_ == 0) return;
  for (const std::unique_ptr<interface_slot>& slot : slots_) {
    if (!slot || !slot->awaited) continue;
    slot->awaited->set();
    slot->awaited->reset();
  }
}

}  // namespace weft::detail

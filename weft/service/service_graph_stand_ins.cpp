// How one service of a graph takes the place of another, so that a test has its own part among the
// real ones.
#include <weft/service/service_graph.hpp>

#include <utility>

#include <weft/base/format.hpp>

namespace weft::detail {
namespace {

/// Instead of whom somebody was who has gone: the place stays empty. Only its address is used.
constinit provision nobody;

}  // namespace

void service_graph::stand_in(service_record& record, interface_key& interface,
                             void* (*cast)(void*) noexcept, std::string_view name) {
  WEFT_ASSERT(record.state == service_state::added, "say what a service is before it is made");
  auto by = std::make_unique<provision>();
  by->owner = &record;
  by->interface = &interface;
  by->cast = cast;
  stand_ins_.push_back({std::move(by), std::string{name}});
}

void service_graph::put_in_stand_ins() {
  std::erase_if(stand_ins_, [this](pending_stand_in& one) { return put_in(one); });
}

/// Those that cannot be put in remain, and are complained of each time.
bool service_graph::put_in(pending_stand_in& one) {
  service_record& by = *one.by->owner;
  interface_key& interface = *one.by->interface;
  interface_slot& slot = slot_of(interface);
  const need_form form = one.name.empty() ? need_form::required : need_form::named;
  const auto refuse = [&](errc why, std::string_view what) {
    complain(why, weft::format("{} is to be instead of {}{}, {}", by.title(), interface.name,
                               one.name.empty() ? "" : weft::format(" \"{}\"", one.name), what));
    return false;
  };
  provision* const real = choose(slot, {&interface, form, one.name});
  if (real == nullptr)
    return refuse(errc::not_found, slot.providers == 0 || form == need_form::named
                                       ? "which nobody provides"
                                       : "of which there are several: say which by its name");
  service_record& before = *real->owner;
  const bool is_lent = before.kind->make == nullptr;
  if ((before.state != service_state::added && !is_lent) || !real->consumers.empty())
    return refuse(errc::invalid_argument,
                  "which has been made: say so before services are first started");
  if (by.given_name() != before.given_name() && by.stands_in)
    return refuse(errc::invalid_argument, "and of one with another name: add one for each");
  if (by.given_name() != before.given_name()) name(by, before.given_name());
  slot.replace(*real, *one.by);
  real->leave_place_to(*one.by);
  by.stands_in = true;
  provision* last = &by.own;
  while (last->further) last = last->further.get();
  last->further = std::move(one.by);
  const provision* left = &before.own;
  while (left != nullptr && left->stand_in() != nullptr) left = left->further.get();
  if (left != nullptr) return true;  // it is something else, too
  before.hold = service_hold::replaced;
  if (is_lent) return true;
  if (!by.per_consumer && !before.per_consumer) {  // made when that would have been
    waiting_.erase(by);
    waiting_.replace(before, by);
    waiting_.push_back(before);
  }
  if (before.has_handle) handles_[before.index].record = &by;
  return true;
}

provision* service_graph::in_place_of(provision* bound) noexcept {
  while (bound != nullptr && bound->stand_in() != nullptr) bound = bound->stand_in();
  return bound == &nobody ? nullptr : bound;
}

/// Neither is it to be instead of anybody, nor does anybody go on to it who is bound to the other.
void service_graph::forget_stand_in(const service_record& gone) {
  std::erase_if(stand_ins_,
                [&gone](const pending_stand_in& one) { return one.by->owner == &gone; });
  if (!gone.stands_in) return;
  for (const records* list : {&made_, &waiting_, &patterns_})
    for (service_record* each = list->first; each != nullptr; each = each->next)
      for (provision* of = &each->own; of != nullptr; of = of->further.get())
        while (of->stand_in() != nullptr && of->stand_in()->owner == &gone) {
          provision* const after = of->stand_in()->stand_in();
          of->leave_place_to(after != nullptr ? *after : nobody);
        }
}

}  // namespace weft::detail

#include <string_view>
#include <unordered_map>

#include <weft/service/service_graph.hpp>

namespace weft::detail {
namespace {

std::string_view form_name(need_form form) noexcept {
  switch (form) {
    case need_form::named: return "named";
    case need_form::optional: return "optional";
    case need_form::all: return "many";
    case need_form::required: break;
  }
  return "required";
}

std::string_view state_name(const service_record& of) noexcept {
  if (of.per_consumer) return "per consumer";
  if (of.kind->make == nullptr) return "lent";
  switch (of.state) {
    case service_state::started: return "started";
    case service_state::made: return "made";
    case service_state::added: break;
  }
  switch (of.hold) {
    case service_hold::failed: return "failed";
    case service_hold::stopped: return "stopped";
    case service_hold::replaced: return "replaced";
    case service_hold::none: break;
  }
  return of.lazy ? "lazy" : "waiting";
}

}  // namespace

/// Whom `asking` means, or would if all were made now.
std::vector<const service_record*> service_graph::providers_of(const need& asking,
                                                               const need_kind& wanted) const {
  if (asking.provider != nullptr && wanted.form != need_form::all) return {asking.provider->owner};
  const std::uint32_t number = number_of(*wanted.interface);
  if (number >= slots_.size() || !slots_[number]) return {};
  const interface_slot& slot = *slots_[number];
  std::vector<const service_record*> found;
  if (wanted.form != need_form::all) {
    if (const provision* const chosen = choose(slot, wanted)) found.push_back(chosen->owner);
    return found;
  }
  for (const provision* each = slot.all.first; each != nullptr; each = each->next)
    found.push_back(each->owner);
  return found;
}

std::vector<service_description> service_graph::describe() const {
  std::unordered_map<const service_record*, std::uint32_t> ids;
  const auto for_each = [this](auto visit) {
    for (const records* list : {&made_, &waiting_, &patterns_})
      for (const service_record* each = list->first; each != nullptr; each = each->next)
        visit(*each);
  };
  for_each([&](const service_record& each) {
    ids.emplace(&each, static_cast<std::uint32_t>(ids.size()));
  });

  std::vector<service_description> all;
  all.reserve(ids.size());
  for_each([&](const service_record& each) {
    service_description& told = all.emplace_back();
    told.id = ids.at(&each);
    told.type = each.kind->name;
    told.name = each.given_name();
    told.state = state_name(each);
    for (const provision* of = &each.own; of != nullptr; of = of->further.get())
      told.provides.emplace_back(of->interface->name);
    if (each.asked_by != nullptr) told.made_for = ids.at(each.asked_by);
    for (std::size_t i = 0; i < each.kind->need_count; ++i) {
      const need_kind& wanted = each.kind->needs[i];
      need_description& need = told.needs.emplace_back();
      need.interface = wanted.interface->name;
      need.form = form_name(wanted.form);
      need.name = wanted.name;
      for (const service_record* provider : providers_of(each.needs[i], wanted))
        need.providers.push_back(ids.at(provider));
    }
  });
  return all;
}

}  // namespace weft::detail

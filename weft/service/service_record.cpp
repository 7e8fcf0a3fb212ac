#include <weft/service/service_record.hpp>

#include <weft/base/format.hpp>

namespace weft::detail {

bool interface_slot::push_back(provision& added) {
  all.push_back(added);
  ++providers;
  const std::string_view name = added.owner->given_name();
  if (name.empty()) {
    if (unnamed_count++ == 0) unnamed = &added;
    return true;
  }
  if (!by_name) by_name = std::make_unique<hash_map<std::string_view, provision*>>();
  const bool is_alone = by_name->try_emplace(name, &added).second;
  is_crowded = is_crowded || !is_alone;
  return is_alone;
}

void interface_slot::erase(provision& left) noexcept {
  provision* next = left.next;
  all.erase(left);
  --providers;
  const std::string_view name = left.owner->given_name();
  if (!name.empty()) {
    const auto found = by_name->find(name);
    if (found->second != &left) return;
    by_name->erase(found);
    if (!is_crowded) return;
    for (provision* each = all.first; each != nullptr; each = each->next)
      if (each->owner->given_name() == name) by_name->try_emplace(name, each);
    return;
  }
  --unnamed_count;
  if (unnamed != &left) return;
  while (next != nullptr && !next->owner->given_name().empty()) next = next->next;
  unnamed = next;
}

void interface_slot::replace(provision& left, provision& added) noexcept {
  all.replace(left, added);
  const std::string_view name = left.owner->given_name();
  if (!name.empty())
    by_name->find(name)->second = &added;
  else if (unnamed == &left)
    unnamed = &added;
}

std::string service_record::title() const {
  std::string text{kind->name};
  if (!given_name().empty()) text += weft::format(" \"{}\"", given_name());
  if (asked_by != nullptr) text += weft::format(" for {}", asked_by->title());
  return text;
}

}  // namespace weft::detail

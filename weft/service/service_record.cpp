#include <weft/service/service_record.hpp>

#include <weft/base/format.hpp>

namespace weft::detail {

void interface_slot::push_back(provision& added) {
  all.push_back(added);
  ++providers;
  const std::string_view name = added.owner->given_name;
  if (name.empty()) {
    if (unnamed_count++ == 0) unnamed = &added;
    return;
  }
  if (!by_name) by_name = std::make_unique<hash_map<std::string_view, provision*>>();
  WEFT_ASSERT(by_name->try_emplace(name, &added).second, "two services of a type have this name");
}

void interface_slot::erase(provision& left) noexcept {
  provision* next = left.next;
  all.erase(left);
  --providers;
  const std::string_view name = left.owner->given_name;
  if (!name.empty()) {
    by_name->erase(name);
    return;
  }
  --unnamed_count;
  if (unnamed != &left) return;
  while (next != nullptr && !next->owner->given_name.empty()) next = next->next;
  unnamed = next;
}

std::string service_record::title() const {
  std::string text{kind->name};
  if (!given_name.empty()) text += weft::format(" \"{}\"", given_name);
  if (asked_by != nullptr) text += weft::format(" for {}", asked_by->title());
  return text;
}

}  // namespace weft::detail

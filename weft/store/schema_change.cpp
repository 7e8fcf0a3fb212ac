#include <weft/store/schema_change.hpp>

#include <algorithm>
#include <cstddef>

namespace weft::store {

bool are_current(const catalog& schema, std::span<const key_write> operations, write_sink& to) {
  const auto is_current = [&schema](const key_write& each) {
    return schema.current(*each.to) != nullptr;
  };
  if (std::ranges::all_of(operations, is_current)) return true;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const bool is_same = is_current(operations[i]);
    to.failed(i, {.kind = is_same ? failure_kind::rolled_back : failure_kind::schema_changed,
                  .message = schema_has_changed});
  }
  return false;
}

}  // namespace weft::store

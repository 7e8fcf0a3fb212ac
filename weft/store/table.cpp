#include <weft/store/table.hpp>

#include <algorithm>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/store/json_value.hpp>

namespace weft::store {
namespace {

// Comparing so many short names costs less than hashing one.
constexpr std::size_t searched_one_by_one_max = 12;

}  // namespace

table::table(const catalog& owner, table_definition definition)
    : owner_{owner}, definition_{std::move(definition)} {
  const auto& columns = definition_.columns;
  WEFT_ASSERT(columns.size() <= UINT16_MAX, "a column is named by 16 bits");
  json_names_.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto at = static_cast<column_position>(i);
    json_names_[i] = ',';
    append_json(columns[i].name, json_names_[i]);
    json_names_[i] += ':';
    if (!std::ranges::contains(definition_.key, at)) values_.push_back(at);
    if (columns.size() > searched_one_by_one_max) by_name_.try_emplace(columns[i].name, at);
  }
}

std::optional<column_position> table::find(std::string_view column_name) const noexcept {
  if (!by_name_.empty()) {
    const auto found = by_name_.find(column_name);
    if (found == by_name_.end()) return std::nullopt;
    return found->second;
  }
  const auto& columns = definition_.columns;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == column_name) return static_cast<column_position>(i);
  return std::nullopt;
}

std::optional<std::size_t> table::place_in_key(column_position at) const noexcept {
  for (std::size_t i = 0; i < definition_.key.size(); ++i)
    if (definition_.key[i] == at) return i;
  return std::nullopt;
}

}  // namespace weft::store

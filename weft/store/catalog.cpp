#include <weft/store/catalog.hpp>

#include <algorithm>
#include <utility>

namespace weft::store {

catalog::catalog(std::vector<database_definition> databases, std::vector<refused_database> refused)
    : refused_{std::move(refused)} {
  names_.reserve(databases.size());  // views of them are keys
  for (database_definition& each : databases) {
    names_.push_back(std::move(each.name));
    table_map& tables = databases_[names_.back()];
    for (table_definition& one : each.tables) {
      tables_.push_back(std::make_unique<const table>(*this, std::move(one)));
      tables.try_emplace(tables_.back()->name(), tables_.back().get());
    }
  }
}

const table* catalog::find(std::string_view database, std::string_view table_name) const noexcept {
  const auto tables = databases_.find(database);
  if (tables == databases_.end()) return nullptr;
  const auto found = tables->second.find(table_name);
  return found == tables->second.end() ? nullptr : found->second;
}

const catalog::refused_database* catalog::refused(std::string_view database) const noexcept {
  const auto found = std::ranges::find(refused_, database, &refused_database::name);
  return found == refused_.end() ? nullptr : &*found;
}

}  // namespace weft::store

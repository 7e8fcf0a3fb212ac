#include <weft/store/sqlite/snapshot.hpp>

#include <string>

#include <weft/store/sqlite/sql_text.hpp>

namespace weft::store::sqlite {
namespace {

/// To prepare a statement of a virtual table is what connects it.
void connect(connection& of, const std::string& table) {
  std::string sql = "SELECT 1 FROM ";
  append_name(table, sql);
  static_cast<void>(of.prepare(sql));
}

/// A result code of SQLite's.
int connect_virtual_tables(connection& of) {
  for (const char* const always : {"json_each", "json_tree"}) connect(of, always);
  const statement virtual_tables =
      of.prepare("SELECT name FROM sqlite_master WHERE type='table' AND rootpage=0");
  if (virtual_tables == nullptr) return sqlite3_extended_errcode(of.get());
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(virtual_tables.get())) == SQLITE_ROW)
    if (const auto* const name = sqlite3_column_text(virtual_tables.get(), 0))
      connect(of, reinterpret_cast<const char*>(name));
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

}  // namespace

std::expected<snapshot, int> snapshot::begin(connection& of) {
  snapshot made{of};
  if (const int code = of.run("PRAGMA temp_store=MEMORY;BEGIN"); code != SQLITE_OK)
    return std::unexpected{code};
  if (const int code = connect_virtual_tables(of); code != SQLITE_OK) return std::unexpected{code};
  return made;
}

snapshot::~snapshot() {
  if (of_ == nullptr) return;
  of_->roll_back();
  if (of_->run("PRAGMA temp_store=DEFAULT") != SQLITE_OK) of_->spoil();
}

}  // namespace weft::store::sqlite

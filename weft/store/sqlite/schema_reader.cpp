#include <weft/store/sqlite/schema_reader.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/store/sqlite/declared_type.hpp>
#include <weft/store/sqlite/sql_text.hpp>

namespace weft::store::sqlite {
namespace {

std::string text_at(sqlite3_stmt* row, int at) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(row, at));
  return text == nullptr
             ? std::string{}
             : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(row, at)));
}

/// Calls `take` with each row of a query, whose only parameter may be a name; SQLite's result.
template <class Take>
int each_row(connection& from, std::string_view sql, const std::string* name, Take take) {
  const statement query = from.prepare(sql);
  if (query == nullptr) return sqlite3_extended_errcode(from.get());
  if (name != nullptr)
    if (const int bound = sqlite3_bind_text(query.get(), 1, name->data(),
                                            static_cast<int>(name->size()), SQLITE_STATIC);
        bound != SQLITE_OK)
      return bound;
  int code = sqlite3_step(query.get());
  for (; code == SQLITE_ROW; code = sqlite3_step(query.get())) take(query.get());
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

/// A row of pragma_table_xinfo (sqlite.org/pragma.html).
struct declared_column {
  column made;
  std::size_t key_place;  // from 1; 0: no part of the key
  bool is_integer;        // declared as INTEGER, and nothing more
};

declared_column read_column(sqlite3_stmt* row) {
  column made{.name = text_at(row, 0)};
  const std::string declared = text_at(row, 1);
  read_declared_type(declared, made);
  const auto key_place = static_cast<std::size_t>(sqlite3_column_int(row, 4));
  made.is_nullable = sqlite3_column_int(row, 2) == 0 && key_place == 0;
  made.has_default = sqlite3_column_type(row, 3) != SQLITE_NULL;
  constexpr int is_virtual = 2;  // sqlite.org/pragma.html#pragma_table_xinfo
  made.is_generated = sqlite3_column_int(row, 5) != 0;
  made.is_computed_when_read = sqlite3_column_int(row, 5) == is_virtual;
  return {std::move(made), key_place, sqlite3_stricmp(declared.c_str(), "INTEGER") == 0};
}

/// A row of pragma_table_list.
struct table_kind {
  bool has_row_numbers;
  bool is_strict;  // sqlite.org/stricttables.html
};

/// There ANY keeps what it is given, and INT is another name of INTEGER.
void read_strictly(column& of) noexcept {
  of.makes_numbers = false;
  if (of.type == column_type::integer) of.type = column_type::big_int;
}

int read_columns(connection& from, bool is_strict, table_definition& into) {
  std::vector<std::pair<std::size_t, column_position>> key;
  bool key_is_integer = false;
  const int code = each_row(
      from, R"(SELECT name,type,"notnull",dflt_value,pk,hidden FROM pragma_table_xinfo(?1))",
      &into.name, [&](sqlite3_stmt* row) {
        declared_column one = read_column(row);
        if (is_strict) read_strictly(one.made);
        if (one.key_place != 0) {
          key.emplace_back(one.key_place, static_cast<column_position>(into.columns.size()));
          key_is_integer = one.is_integer;
        }
        into.columns.push_back(std::move(one.made));
      });
  std::ranges::sort(key);
  for (const auto& [place, at] : key) into.key.push_back(at);
  // An INTEGER PRIMARY KEY is the row's number, which SQLite finds where none is given.
  if (key.size() == 1 && key_is_integer) into.columns[into.key.front()].has_default = true;
  return code;
}

std::optional<column_position> position_of(const table_definition& in, std::string_view name) {
  const auto found = std::ranges::find(in.columns, name, &column::name);
  if (found == in.columns.end()) return std::nullopt;
  return static_cast<column_position>(found - in.columns.begin());
}

/// Columns that are expressions end an index for us: what is before them can be searched by.
int read_index_columns(connection& from, secondary_index& into, const table_definition& of) {
  bool is_plain = true;
  return each_row(from, "SELECT name FROM pragma_index_info(?1) ORDER BY seqno", &into.name,
                  [&](sqlite3_stmt* row) {
                    const auto at = position_of(of, text_at(row, 0));
                    is_plain = is_plain && at.has_value();
                    if (is_plain) into.columns.push_back(*at);
                  });
}

/// Those of the primary key, and those of some rows only, are of no use to who searches.
int read_indexes(connection& from, table_definition& into) {
  std::vector<secondary_index> found;
  int code = each_row(
      from,
      "SELECT name,\"unique\" FROM pragma_index_list(?1) WHERE origin<>'pk' AND partial=0 "
      "ORDER BY name",
      &into.name, [&](sqlite3_stmt* row) {
        found.push_back({.name = text_at(row, 0), .is_unique = sqlite3_column_int(row, 1) != 0});
      });
  for (secondary_index& each : found) {
    if (code != SQLITE_OK) break;
    code = read_index_columns(from, each, into);
    if (!each.columns.empty()) into.indexes.push_back(std::move(each));
  }
  return code;
}

/// What SQLite calls a row's number there; nothing: columns of the table have all of these names.
std::optional<std::string> row_number_in(const table_definition& table) {
  for (const char* const name : {"rowid", "_rowid_", "oid"})
    if (std::ranges::none_of(table.columns, [name](const column& each) {
          return sqlite3_stricmp(each.name.c_str(), name) == 0;
        }))
      return name;
  return std::nullopt;
}

/// Of the index that the primary key is, which an INTEGER PRIMARY KEY does not have: what it
/// forbids is all that is known of keys.
struct key_index {
  bool may_be_null = false;
  /// Columns that it compares otherwise than ORDER BY does, as it compares them.
  std::vector<std::string> compared;
};

int read_key_index(connection& from, const table_definition& of, key_index& into) {
  return each_row(from,
                  "SELECT x.name,x.coll FROM pragma_index_list(?1) l, pragma_index_xinfo(l.name) x "
                  "WHERE l.origin='pk' AND x.key=1 ORDER BY x.seqno",
                  &of.name, [&](sqlite3_stmt* row) {
                    const std::string name = text_at(row, 0);
                    const std::string collation = text_at(row, 1);
                    const char* own = nullptr;
                    int is_not_null = 0;
                    // If it fails, the column counts as one that may be NULL.
                    sqlite3_table_column_metadata(from.get(), "main", of.name.c_str(), name.c_str(),
                                                  nullptr, &own, &is_not_null, nullptr, nullptr);
                    into.may_be_null = into.may_be_null || is_not_null == 0;
                    if (own != nullptr && sqlite3_stricmp(own, collation.c_str()) == 0) return;
                    std::string& term = into.compared.emplace_back();
                    append_name(name, term);
                    term += " COLLATE ";
                    append_name(collation, term);
                  });
}

/// Keys may be NULL, many times, unless the table says otherwise: sqlite.org/lang_createtable.html,
/// "The PRIMARY KEY".
int read_tie_breakers(connection& from, bool has_row_numbers, table_definition& into) {
  into.has_stored_places = true;
  key_index key;
  const int code = read_key_index(from, into, key);
  if (key.compared.empty() && !(key.may_be_null && has_row_numbers)) return code;
  const auto number = has_row_numbers ? row_number_in(into) : std::nullopt;
  if (number)
    into.tie_breakers = {*number};
  else
    into.tie_breakers = std::move(key.compared);
  into.has_distinct_rows = number || !has_row_numbers || !key.may_be_null;
  return code;
}

int read_tables(connection& from, const std::string& database, database_schema& into) {
  std::vector<table_kind> kinds;
  int code =
      each_row(from,
               "SELECT name,wr,strict FROM pragma_table_list WHERE schema='main' AND type='table' "
               "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
               nullptr, [&](sqlite3_stmt* row) {
                 into.tables.push_back({.database = database, .name = text_at(row, 0)});
                 kinds.push_back({.has_row_numbers = sqlite3_column_int(row, 1) == 0,
                                  .is_strict = sqlite3_column_int(row, 2) != 0});
               });
  for (std::size_t i = 0; i < into.tables.size(); ++i) {
    table_definition& each = into.tables[i];
    if (code == SQLITE_OK) code = read_columns(from, kinds[i].is_strict, each);
    if (code == SQLITE_OK) code = read_indexes(from, each);
    if (code == SQLITE_OK) code = read_tie_breakers(from, kinds[i].has_row_numbers, each);
  }
  return code;
}

bool has_utf8(connection& of) {
  std::string encoding;
  each_row(of, "PRAGMA encoding", nullptr, [&](sqlite3_stmt* row) { encoding = text_at(row, 0); });
  return encoding == "UTF-8";
}

}  // namespace

std::expected<database_schema, schema_fault> read_schema(connection& from,
                                                         const std::string& database) {
  // One transaction, so that nobody changes it meanwhile.
  if (const int code = from.run("BEGIN"); code != SQLITE_OK)
    return std::unexpected{schema_fault{kind_of(code), from.describe(code)}};
  database_schema made;
  const auto version = from.number("PRAGMA schema_version");
  int code = version ? SQLITE_OK : version.error();
  made.version = version.value_or(0);
  if (code == SQLITE_OK) code = read_tables(from, database, made);
  schema_fault fault;
  if (code != SQLITE_OK) fault = {kind_of(code), from.describe(code)};
  if (code == SQLITE_OK && !has_utf8(from))
    fault = {
        failure_kind::unsupported,
        weft::format("{}.db: its texts are UTF-16: copy it into a database with UTF-8", database)};
  static_cast<void>(from.run("ROLLBACK"));
  if (!fault.message.empty()) return std::unexpected{std::move(fault)};
  return made;
}

}  // namespace weft::store::sqlite

#include <weft/store/mysql/schema_reader.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/hash_map.hpp>
#include <weft/store/mysql/enumerated.hpp>

namespace weft::store::mysql {
namespace {

// Names are compared as bytes, since "a" and "A" may be two.
constexpr std::string_view databases_query =
    "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN "
    "('information_schema', 'mysql', 'performance_schema', 'sys', 'ndbinfo') "
    "ORDER BY CAST(schema_name AS BINARY)";

// Behind "WHERE table_schema". With the name of one, servers look into that database alone.
constexpr std::string_view in_any_database =
    " NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys', 'ndbinfo')";
constexpr std::string_view in_database =
    " = ? AND CAST(table_schema AS BINARY) = CAST(? AS BINARY)";

// Not joined to the columns by the server, which would look through all of them for each table.
constexpr std::string_view tables_query =
    "SELECT table_schema, table_name, t.engine, COALESCE(e.transactions, '') <> 'NO' "
    "FROM information_schema.tables t LEFT JOIN information_schema.engines e "
    "ON e.engine = t.engine "
    "WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') AND table_schema";
constexpr std::string_view tables_order =
    " ORDER BY CAST(table_schema AS BINARY), CAST(table_name AS BINARY)";
constexpr std::string_view columns_query =
    "SELECT table_schema, table_name, column_name, data_type, "
    "numeric_precision IS NOT NULL AND column_type LIKE '% unsigned%', is_nullable = 'YES', "
    "extra LIKE '%auto_increment%' OR COALESCE(column_default, 'NULL') <> 'NULL', "
    "COALESCE(generation_expression, '') <> '', character_maximum_length, "
    "numeric_precision, numeric_scale, datetime_precision, "
    "IF(data_type IN ('enum', 'set'), column_type, NULL), character_set_name "
    "FROM information_schema.columns WHERE table_schema";
constexpr std::string_view columns_order = " ORDER BY ordinal_position";
constexpr std::string_view indexes_query =
    "SELECT table_schema, table_name, index_name, column_name, non_unique = 0, "
    "sub_part IS NOT NULL, index_type = 'BTREE' FROM information_schema.statistics "
    "WHERE table_schema";
constexpr std::string_view indexes_order =
    " ORDER BY CAST(table_schema AS BINARY), CAST(table_name AS BINARY), "
    "CAST(index_name AS BINARY), seq_in_index";

struct typed_name {
  std::string_view name;
  column_type type;
};

constexpr typed_name types[] = {
    {"tinyint", column_type::tiny_int},
    {"smallint", column_type::small_int},
    {"mediumint", column_type::medium_int},
    {"int", column_type::integer},
    {"bigint", column_type::big_int},
    {"float", column_type::float32},
    {"double", column_type::float64},
    {"decimal", column_type::decimal},
    {"char", column_type::character},
    {"varchar", column_type::varchar},
    {"uuid", column_type::varchar},
    {"inet4", column_type::varchar},
    {"inet6", column_type::varchar},
    {"tinytext", column_type::text},
    {"text", column_type::text},
    {"mediumtext", column_type::text},
    {"longtext", column_type::text},
    {"json", column_type::text},
    {"enum", column_type::text},
    {"set", column_type::text},
    {"binary", column_type::binary},
    {"varbinary", column_type::varbinary},
    {"bit", column_type::bit},
    {"date", column_type::date},
    {"time", column_type::time},
    {"datetime", column_type::date_time},
    {"timestamp", column_type::timestamp},
    {"year", column_type::year},
};

column_type type_of(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(types, name, &typed_name::name);
  return found == std::end(types) ? column_type::blob : found->type;
}

std::uint64_t number_of(const value& from) noexcept {
  switch (from.kind()) {
    case value_kind::int64: return static_cast<std::uint64_t>(from.as_integer());
    case value_kind::uint64: return from.as_natural();
    default: return 0;
  }
}

bool is_true(const value& from) noexcept { return number_of(from) != 0; }

/// NULL as no text.
std::string text_of(const value& from) {
  const bool is_there = from.kind() == value_kind::text || from.kind() == value_kind::bytes;
  return is_there ? std::string{from.as_text()} : std::string{};
}

column column_of(std::span<const value> row) {
  const std::string type = text_of(row[3]);
  column made{.name = text_of(row[2]),
              .type = type_of(type),
              .is_unsigned = is_true(row[4]),
              .is_nullable = is_true(row[5]),
              .has_default = is_true(row[6]),
              .is_generated = is_true(row[7]),
              .is_enumerated = type == "enum" || type == "set",
              .charset = text_of(row[13])};
  switch (made.type) {
    case column_type::character:
    case column_type::varchar:
    case column_type::binary:
    case column_type::varbinary: made.length = static_cast<std::uint32_t>(number_of(row[8])); break;
    case column_type::bit: made.length = static_cast<std::uint32_t>(number_of(row[9])); break;
    case column_type::decimal:
      made.precision = static_cast<std::uint8_t>(number_of(row[9]));
      made.scale = static_cast<std::uint8_t>(number_of(row[10]));
      break;
    case column_type::time:
    case column_type::date_time:
    case column_type::timestamp:
      made.fraction_digits = static_cast<std::uint8_t>(number_of(row[11]));
      break;
    default: break;
  }
  if (made.is_enumerated) made.numeric_values = numeric_values(text_of(row[12]));
  return made;
}

/// What is read, and where each of it stands.
class schema_builder {
 public:
  void add_database(std::span<const value> row) {
    places_.emplace(text_of(row[0]), databases_.size());
    databases_.push_back({.name = text_of(row[0]), .tables = {}});
  }
  void add_table(std::span<const value> row) {
    const std::string database = text_of(row[0]);
    const auto place = places_.find(database);
    if (place == places_.end()) return;
    databases_[place->second].tables.push_back({.database = database,
                                                .name = text_of(row[1]),
                                                .storage_engine = text_of(row[2]),
                                                .has_transactions = is_true(row[3])});
  }
  /// In their order; those of views are dropped.
  void add_column(std::span<const value> row) {
    if (table_definition* const table = find_table(text_of(row[0]), text_of(row[1])))
      table->columns.push_back(column_of(row));
  }
  void add_index_column(std::span<const value> row) {
    table_definition* const table = find_table(text_of(row[0]), text_of(row[1]));
    if (table == nullptr) return;
    const std::string index = text_of(row[2]);
    const auto column = position_of(*table, text_of(row[3]));
    const bool is_whole = column && !is_true(row[5]);
    if (index == "PRIMARY")
      add_key_column(*table, is_whole ? column : std::nullopt);
    else if (is_true(row[6]))
      add_to_index(*table, index, is_true(row[4]), is_whole ? column : std::nullopt);
  }
  std::vector<catalog::database_definition> take() {
    for (catalog::database_definition& database : databases_) {
      // One that was dropped meanwhile.
      std::erase_if(database.tables, [](const auto& table) { return table.columns.empty(); });
      for (table_definition& each : database.tables)
        std::erase_if(each.indexes, [](const auto& index) { return index.columns.empty(); });
    }
    return std::move(databases_);
  }
  [[nodiscard]] std::span<const catalog::database_definition> databases() const noexcept {
    return databases_;
  }

 private:
  table_definition* find_table(const std::string& database, const std::string& name) {
    const auto place = places_.find(database);
    if (place == places_.end()) return nullptr;
    std::vector<table_definition>& tables = databases_[place->second].tables;
    const auto found = std::ranges::lower_bound(tables, name, {}, &table_definition::name);
    return found != tables.end() && found->name == name ? &*found : nullptr;
  }
  static std::optional<column_position> position_of(const table_definition& in,
                                                    const std::string& name) {
    const auto found = std::ranges::find(in.columns, name, &column::name);
    if (found == in.columns.end()) return std::nullopt;
    return static_cast<column_position>(found - in.columns.begin());
  }
  void add_key_column(table_definition& to, std::optional<column_position> column) {
    if (last_key_of_ != &to) is_key_whole_ = true;
    last_key_of_ = &to;
    is_key_whole_ = is_key_whole_ && column.has_value();
    if (is_key_whole_)
      to.key.push_back(*column);
    else
      to.key.clear();
  }
  void add_to_index(table_definition& to, const std::string& name, bool is_unique,
                    std::optional<column_position> column) {
    if (to.indexes.empty() || to.indexes.back().name != name) {
      to.indexes.push_back({.name = name, .is_unique = is_unique});
      is_index_whole_ = true;
    }
    is_index_whole_ = is_index_whole_ && column.has_value();
    if (is_index_whole_)
      to.indexes.back().columns.push_back(*column);
    else
      to.indexes.back().is_unique = false;  // what is left of it may be there twice
  }

  std::vector<catalog::database_definition> databases_;
  hash_map<std::string, std::size_t> places_;  // of databases
  const table_definition* last_key_of_ = nullptr;
  bool is_key_whole_ = true;    // so far
  bool is_index_whole_ = true;  // of the last one
};

using row_taker = void (schema_builder::*)(std::span<const value> row);
/// The parameters of each run of a query.
using runs = std::vector<std::vector<value>>;

task<result<void>> read_into(schema_builder& to, row_taker take, connection& from,
                             std::string_view query, const runs& each_with) {
  auto prepared = co_await from.prepare(query);
  if (!prepared) co_return fail(prepared.error());
  for (const std::vector<value>& parameters : each_with) {
    if (const auto ran = co_await from.execute(*prepared, parameters); !ran) co_return ran;
    while (prepared->next()) (to.*take)(prepared->row());
  }
  co_return {};
}

/// One for all databases, or one for each that is asked for and there.
runs runs_of(std::span<const catalog::database_definition> there,
             std::span<const std::string> asked) {
  if (asked.empty()) return runs(1);
  runs made;
  for (const catalog::database_definition& each : there)
    if (std::ranges::contains(asked, each.name)) made.emplace_back(2, value::text(each.name));
  return made;
}

/// What the indexes are that are used: MariaDB may ignore others, and MySQL's may be invisible,
/// which each has a column for, and versions before that have none.
task<result<std::string_view>> condition_of_used_indexes(connection& from) {
  const auto all = co_await from.prepare("SELECT * FROM information_schema.statistics");
  if (!all) co_return fail(all.error());
  const std::vector<column> told = all->columns();
  if (std::ranges::contains(told, "IGNORED", &column::name)) co_return " AND `ignored` = 'NO'";
  if (std::ranges::contains(told, "IS_VISIBLE", &column::name)) co_return " AND is_visible = 'YES'";
  co_return "";
}

}  // namespace

borrowing_task<result<std::vector<catalog::database_definition>>> read_schema(
    connection& server, std::span<const std::string> databases) {
  schema_builder found;
  const auto listed =
      co_await read_into(found, &schema_builder::add_database, server, databases_query, runs(1));
  if (!listed) co_return fail(listed.error());
  const auto used = co_await condition_of_used_indexes(server);
  if (!used) co_return fail(used.error());
  struct part {
    row_taker take;
    std::string_view query;
    std::string_view rest;
    std::string_view order;
  };
  const part parts[] = {{&schema_builder::add_table, tables_query, "", tables_order},
                        {&schema_builder::add_column, columns_query, "", columns_order},
                        {&schema_builder::add_index_column, indexes_query, *used, indexes_order}};
  const runs each_with = runs_of(found.databases(), databases);
  for (const part& each : parts) {
    std::string query{each.query};
    query.append(databases.empty() ? in_any_database : in_database);
    query.append(each.rest).append(each.order);
    const auto read = co_await read_into(found, each.take, server, query, each_with);
    if (!read) co_return fail(read.error());
  }
  co_return found.take();
}

}  // namespace weft::store::mysql

#include <weft/store/sqlite/sql_text.hpp>

#include <cstddef>
#include <initializer_list>
#include <utility>

namespace weft::store::sqlite {
namespace {

/// `"a"=?1 AND "b"=?2`
void append_key_condition(const table& of, std::string& out) {
  std::size_t parameter = 1;
  for (const column_position at : of.key()) {
    if (parameter > 1) out += " AND ";
    append_name(of.columns()[at].name, out);
    out.append("=?").append(std::to_string(parameter++));
  }
}

/// `"a"=?3,"b"=?4`, or the key as it is where nothing is set.
void append_settings(const key_write& of, std::string& out) {
  const std::span columns = of.to->columns();
  std::size_t parameter = of.to->key().size();
  for (const column_position at : of.columns) {
    if (parameter > of.to->key().size()) out += ',';
    append_name(columns[at].name, out);
    out.append("=?").append(std::to_string(++parameter));
  }
  if (!of.columns.empty()) return;
  append_name(columns[of.to->key().front()].name, out);
  out += "=?1";
}

/// `("id","a") VALUES(?1,?2)`
void append_row(const key_write& of, std::string& out) {
  const std::span columns = of.to->columns();
  char before = '(';
  for (const auto& part : {of.to->key(), of.columns})
    for (const column_position at : part) {
      out += std::exchange(before, ',');
      append_name(columns[at].name, out);
    }
  out += ") VALUES";
  before = '(';
  for (std::size_t i = 1; i <= of.to->key().size() + of.columns.size(); ++i) {
    out += std::exchange(before, ',');
    out.append("?").append(std::to_string(i));
  }
  out += ')';
}

/// ` ON CONFLICT("id") DO UPDATE SET "a"=?2`
void append_conflict(const key_write& of, std::string& out) {
  out += " ON CONFLICT";
  char before = '(';
  for (const column_position at : of.to->key()) {
    out += std::exchange(before, ',');
    append_name(of.to->columns()[at].name, out);
  }
  out += ") DO ";
  if (of.columns.empty()) {
    out += "NOTHING";
    return;
  }
  out += "UPDATE SET ";
  append_settings(of, out);
}

std::string select(const table& from, std::span<const column_position> columns,
                   void (*append_column)(std::string_view, std::string&)) {
  std::string sql = "SELECT ";
  for (const column_position at : columns) {
    if (!sql.ends_with(' ')) sql += ',';
    append_column(from.columns()[at].name, sql);
  }
  if (columns.empty()) sql += '1';
  sql += " FROM ";
  append_name(from.name(), sql);
  sql += " WHERE ";
  append_key_condition(from, sql);
  return sql;
}

}  // namespace

void append_name(std::string_view name, std::string& out) {
  out += '"';
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string write_row(const key_write& operation) {
  std::string sql;
  switch (operation.kind) {
    case write_kind::insert:
    case write_kind::upsert: sql = "INSERT INTO "; break;
    case write_kind::update: sql = "UPDATE "; break;
    case write_kind::remove: sql = "DELETE FROM "; break;
  }
  append_name(operation.to->name(), sql);
  if (operation.kind == write_kind::insert || operation.kind == write_kind::upsert) {
    append_row(operation, sql);
    if (operation.kind == write_kind::upsert) append_conflict(operation, sql);
    return sql;
  }
  if (operation.kind == write_kind::update) {
    sql += " SET ";
    append_settings(operation, sql);
  }
  sql += " WHERE ";
  append_key_condition(*operation.to, sql);
  return sql;
}

void append_size_of(std::string_view name, std::string& out) {
  out += "length(CAST(";
  append_name(name, out);
  out += " AS BLOB))";
}

std::string select_row(const table& from, std::span<const column_position> columns) {
  return select(from, columns, append_name);
}

std::string select_sizes(const table& from, std::span<const column_position> columns) {
  return select(from, columns, append_size_of);
}

}  // namespace weft::store::sqlite

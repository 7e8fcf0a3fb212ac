#include <weft/store/sqlite/sql_text.hpp>

#include <cstddef>

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

}  // namespace

void append_name(std::string_view name, std::string& out) {
  out += '"';
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string select_row(const table& from, std::span<const column_position> columns) {
  std::string sql = "SELECT ";
  for (const column_position at : columns) {
    if (!sql.ends_with(' ')) sql += ',';
    append_name(from.columns()[at].name, sql);
  }
  if (columns.empty()) sql += '1';
  sql += " FROM ";
  append_name(from.name(), sql);
  sql += " WHERE ";
  append_key_condition(from, sql);
  return sql;
}

}  // namespace weft::store::sqlite

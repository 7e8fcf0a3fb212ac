#include <weft/store/mysql/sql_text.hpp>

#include <algorithm>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::store::mysql {
namespace {

/// `a`=? AND `b`=?
void append_key_condition(const table& of, std::string& out) {
  std::string_view before;
  for (const column_position at : of.key()) {
    out += std::exchange(before, " AND ");
    append_name(of.columns()[at].name, out);
    out += '=';
    append_parameter(of.columns()[at], out);
  }
}

/// ,`a`,`b`
void append_columns(const table& of, std::span<const column_position> columns, std::string& out) {
  for (const column_position at : columns) {
    out += ',';
    append_name(of.columns()[at].name, out);
  }
}

/// `a`=?,`b`=?, or the key as it is where nothing is set.
void append_settings(const key_write& of, std::string& out) {
  const std::span columns = of.to->columns();
  std::string_view before;
  for (const column_position at : of.columns) {
    out += std::exchange(before, ",");
    append_name(columns[at].name, out);
    out += "=?";
  }
  if (!of.columns.empty()) return;
  const std::string& first = columns[of.to->key().front()].name;
  append_name(first, out);
  out += '=';
  append_name(first, out);
}

/// In few steps, for there are many.
void append_times(std::size_t times, std::string_view text, std::string& out) {
  const std::size_t begin = out.size();
  const std::size_t end = begin + times * text.size();
  out.reserve(end);
  if (times != 0) out += text;
  while (out.size() < end) out.append(out, begin, std::min(out.size() - begin, end - out.size()));
}

/// (`id`,`a`) VALUES(?,?),(?,?)
void append_rows(const key_write& of, std::size_t rows, std::string& out) {
  const std::size_t begin = out.size();
  append_columns(*of.to, of.to->key(), out);
  append_columns(*of.to, of.columns, out);
  out[begin] = '(';
  out += ") VALUES";
  std::string one = "(?";
  append_times(of.to->key().size() + of.columns.size() - 1, ",?", one);
  one += "),";
  append_times(rows, one, out);
  out.pop_back();
}

}  // namespace

void append_name(std::string_view name, std::string& out) {
  out += '`';
  for (const char c : name) {
    if (c == '`') out += '`';
    out += c;
  }
  out += '`';
}

void append_table(const table& of, std::string& out) {
  append_name(of.database(), out);
  out += '.';
  append_name(of.name(), out);
}

void append_parameter(const column& of, std::string& out) {
  if (of.type == column_type::decimal)
    out += weft::format("CAST(? AS DECIMAL({},{}))", of.precision, of.scale);
  else
    out += '?';
}

bool has_text_in_key(const table& of) noexcept {
  return std::ranges::any_of(of.key(),
                             [&](column_position at) { return is_text(of.columns()[at].type); });
}

std::string select_by_keys(const table& from, std::span<const column_position> columns,
                           std::size_t keys) {
  std::string sql;
  append_columns(from, from.key(), sql);
  sql.replace(0, 1, "SELECT ");
  append_columns(from, columns, sql);
  sql += " FROM ";
  append_table(from, sql);
  sql += " WHERE ";
  const bool is_row = from.key().size() > 1;
  if (keys == 1 || (is_row && has_text_in_key(from))) {
    std::string other = " OR ";
    append_key_condition(from, other);
    append_key_condition(from, sql);
    append_times(keys - 1, other, sql);
    return sql;
  }
  std::string names;
  append_columns(from, from.key(), names);
  std::string one = is_row ? ",(" : ",";
  for (const column_position at : from.key()) {
    if (at != from.key().front()) one += ',';
    append_parameter(from.columns()[at], one);
  }
  if (is_row) one += ')';
  sql.append(is_row ? "(" : "").append(names, 1).append(is_row ? ") IN(" : " IN(").append(one, 1);
  append_times(keys - 1, one, sql);
  sql += ')';
  return sql;
}

std::string select_by_numbered_keys(const table& from, std::span<const column_position> columns,
                                    std::size_t keys) {
  std::string rest;
  append_columns(from, columns, rest);
  rest += " FROM ";
  append_table(from, rest);
  rest += " WHERE ";
  append_key_condition(from, rest);
  std::string sql;
  std::string_view before;
  for (std::size_t i = 0; i < keys; ++i) {
    sql += std::exchange(before, " UNION ALL ");
    sql.append("SELECT ").append(std::to_string(i)).append(rest);
  }
  return sql;
}

std::string convert_keys(const table& of) {
  std::string sql;
  for (const column_position at : of.key()) {
    const std::string& charset = of.columns()[at].charset;
    if (charset.empty()) continue;
    sql += sql.empty() ? "SELECT " : ",";
    // MySQL takes a parameter that stands alone for a text of that charset, and refuses it.
    sql += "CONVERT(CONVERT(? USING utf8mb4) USING ";
    append_name(charset, sql);
    sql += ')';
  }
  return sql;
}

std::string insert_rows(const key_write& first, std::size_t rows) {
  std::string sql = "INSERT INTO ";
  append_table(*first.to, sql);
  append_rows(first, rows, sql);
  return sql;
}

std::string write_row(const key_write& operation, write_kind as) {
  if (as == write_kind::insert || as == write_kind::upsert) return insert_rows(operation, 1);
  std::string sql = as == write_kind::update ? "UPDATE " : "DELETE FROM ";
  append_table(*operation.to, sql);
  if (as == write_kind::update) {
    sql += " SET ";
    append_settings(operation, sql);
  }
  sql += " WHERE ";
  append_key_condition(*operation.to, sql);
  return sql;
}

}  // namespace weft::store::mysql

#include <weft/store/mysql/statement.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mariadb/mysql.h>

#include <weft/store/mysql/bound_row.hpp>
#include <weft/store/mysql/result_columns.hpp>

namespace weft::store::mysql {
namespace {

void bind_number(MYSQL_BIND& to, enum_field_types type, const void* number) noexcept {
  to.buffer_type = type;
  to.buffer = const_cast<void*>(number);  // the library only reads it
}

void bind_content(MYSQL_BIND& to, enum_field_types type, std::string_view content) noexcept {
  to.buffer_type = type;
  to.buffer = const_cast<char*>(content.data());
  to.buffer_length = content.size();
}

}  // namespace

struct statement::parts {
  parts(MYSQL_STMT* prepared, std::string_view its_text)
      : text{its_text}, handle{prepared}, binds(mysql_stmt_param_count(prepared)) {
    numbers.resize(binds.size());
    kinds.resize(binds.size());
  }
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;
  ~parts() { mysql_stmt_close(handle); }

  /// Whether the library has to be told of it: not of a number that lies where the one before lay.
  bool bind(std::size_t at, const value& from);

  union number {
    std::int64_t integer;
    std::uint64_t natural;
    double real;
  };

  std::string text;
  MYSQL_STMT* handle;
  std::vector<MYSQL_BIND> binds;
  std::vector<number> numbers;  // what binds point to
  std::vector<value_kind> kinds;
  bool are_types_known = false;  // to the server
  bound_row row;
};

bool statement::parts::bind(std::size_t at, const value& from) {
  MYSQL_BIND& to = binds[at];
  number& number = numbers[at];
  const bool is_new = std::exchange(kinds[at], from.kind()) != from.kind();
  if (is_new) to = {};
  switch (from.kind()) {
    case value_kind::null: to.buffer_type = MYSQL_TYPE_NULL; return is_new;
    case value_kind::int64:
      number.integer = from.as_integer();
      bind_number(to, MYSQL_TYPE_LONGLONG, &number);
      return is_new;
    case value_kind::uint64:
      number.natural = from.as_natural();
      bind_number(to, MYSQL_TYPE_LONGLONG, &number);
      to.is_unsigned = 1;
      return is_new;
    case value_kind::float64:
      number.real = from.as_real();
      bind_number(to, MYSQL_TYPE_DOUBLE, &number);
      return is_new;
    case value_kind::text: bind_content(to, MYSQL_TYPE_STRING, from.as_text()); return true;
    case value_kind::bytes: bind_content(to, MYSQL_TYPE_BLOB, from.as_text()); return true;
  }
  return true;
}

statement::statement(st_mysql_stmt* prepared, std::string_view text)
    : parts_{std::make_unique<parts>(prepared, text)} {}
statement::statement(statement&&) noexcept = default;
statement& statement::operator=(statement&&) noexcept = default;
statement::~statement() = default;

st_mysql_stmt* statement::get() const noexcept { return parts_->handle; }

void statement::take_over(statement& prepared_anew) noexcept {
  std::swap(parts_->handle, prepared_anew.parts_->handle);
  forget_types();
}

void statement::forget_types() noexcept { parts_->are_types_known = false; }

std::string_view statement::text() const noexcept { return parts_->text; }

std::size_t statement::parameters() const noexcept { return parts_->binds.size(); }

std::uint64_t statement::rows() const noexcept { return mysql_stmt_affected_rows(get()); }

std::size_t statement::bind(std::span<const value> values) {
  bool is_new = !std::exchange(parts_->are_types_known, true);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!parts_->bind(i, values[i])) continue;
    is_new = true;
    bytes += parts_->binds[i].buffer_length;
  }
  // Fails for types that it does not know, of which none is given here.
  if (is_new && !values.empty()) mysql_stmt_bind_param(get(), parts_->binds.data());
  return bytes;
}

void statement::take_result() {
  row_ = {};
  if (mysql_stmt_field_count(get()) != 0) parts_->row.bind(get());
}

void statement::take_rows_one_by_one() {
  row_ = {};
  parts_->row.bind_next(get());
}

void statement::take_next_row() {
  parts_->row.fill(get());
  row_ = parts_->row.values();
}

void statement::end_rows() noexcept {
  row_ = {};
  parts_->row.end();
}

std::vector<column> statement::columns() const { return result_columns(get()); }

std::size_t statement::row_columns() const noexcept { return mysql_stmt_field_count(get()); }

std::string statement::computed_bits() const { return mysql::computed_bits(get()); }

bool statement::next() {
  row_ = {};
  if (mysql_stmt_field_count(get()) == 0) return false;
  // The result is in memory, and its columns have room: it is a row or the end.
  if (mysql_stmt_fetch(get()) != 0) {
    mysql_stmt_free_result(get());
    end_rows();
    return false;
  }
  row_ = parts_->row.values();
  return true;
}

}  // namespace weft::store::mysql

#include <weft/store/mysql/statement.hpp>

#include <string_view>
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
  explicit parts(MYSQL_STMT* prepared) : handle{prepared}, binds(mysql_stmt_param_count(prepared)) {
    numbers.resize(binds.size());
  }
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;
  ~parts() { mysql_stmt_close(handle); }

  union number {
    std::int64_t integer;
    std::uint64_t natural;
    double real;
  };

  MYSQL_STMT* handle;
  std::vector<MYSQL_BIND> binds;
  std::vector<number> numbers;  // what binds point to
  bound_row row;
};

statement::statement(st_mysql_stmt* prepared) : parts_{std::make_unique<parts>(prepared)} {}
statement::statement(statement&&) noexcept = default;
statement& statement::operator=(statement&&) noexcept = default;
statement::~statement() = default;

st_mysql_stmt* statement::get() const noexcept { return parts_->handle; }

std::size_t statement::parameters() const noexcept { return parts_->binds.size(); }

std::uint64_t statement::rows() const noexcept { return mysql_stmt_affected_rows(get()); }

void statement::bind(std::span<const value> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    MYSQL_BIND& to = parts_->binds[i];
    parts::number& number = parts_->numbers[i];
    const value& from = values[i];
    to = {};
    switch (from.kind()) {
      case value_kind::null: to.buffer_type = MYSQL_TYPE_NULL; break;
      case value_kind::int64:
        number.integer = from.as_integer();
        bind_number(to, MYSQL_TYPE_LONGLONG, &number);
        break;
      case value_kind::uint64:
        number.natural = from.as_natural();
        bind_number(to, MYSQL_TYPE_LONGLONG, &number);
        to.is_unsigned = 1;
        break;
      case value_kind::float64:
        number.real = from.as_real();
        bind_number(to, MYSQL_TYPE_DOUBLE, &number);
        break;
      case value_kind::text: bind_content(to, MYSQL_TYPE_STRING, from.as_text()); break;
      case value_kind::bytes: bind_content(to, MYSQL_TYPE_BLOB, from.as_text()); break;
    }
  }
  if (!values.empty()) mysql_stmt_bind_param(get(), parts_->binds.data());
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

std::vector<column> statement::columns() const { return result_columns(get()); }

bool statement::next() {
  row_ = {};
  if (mysql_stmt_field_count(get()) == 0) return false;
  // The result is in memory, and its columns have room: it is a row or the end.
  if (mysql_stmt_fetch(get()) != 0) {
    mysql_stmt_free_result(get());
    return false;
  }
  row_ = parts_->row.values();
  return true;
}

}  // namespace weft::store::mysql

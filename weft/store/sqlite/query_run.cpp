#include <weft/store/sqlite/query_run.hpp>

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/hash_map.hpp>
#include <weft/store/distinct_names.hpp>
#include <weft/store/sqlite/declared_type.hpp>
#include <weft/store/sqlite/query_watch.hpp>
#include <weft/store/sqlite/row_lookup.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t rows_at_once = 256;
constexpr std::size_t bytes_at_once = 64 * 1024;  // made into a reply without a pause

/// From so much on, what a query has freed is given back to the system.
constexpr std::int64_t trimmed_from = 16 * 1024 * 1024;

constexpr const char* only_reads = "a query may only read, by SELECT";

/// SQLite has one code for a text that is no SQL and for names that there are not.
bool is_of_parser(std::string_view message) noexcept {
  return message.ends_with(": syntax error") || message == "incomplete input" ||
         message.starts_with("unrecognized token: ");
}

/// The same code for functions that are not allowed here.
bool is_of_confinement(std::string_view message) noexcept {
  return message.starts_with("not authorized") || message.starts_with("unsafe use of ");
}

query_fault fault_of(std::string_view message) noexcept {
  if (is_of_parser(message)) return query_fault::syntax;
  return is_of_confinement(message) ? query_fault::unsupported : query_fault::semantic;
}

}  // namespace

int query_run::ask_whether_to_go_on(void* self) {
  return static_cast<query_run*>(self)->is_to_end() ? 1 : 0;
}

bool query_run::is_to_end() noexcept {
  is_late_ = std::chrono::steady_clock::now() >= bounds_.until;
  is_in_the_way_ = writer_.calls_to_leave() != calls_to_leave_;
  return is_late_ || is_in_the_way_ || is_unwanted_.load(std::memory_order_relaxed);
}

void query_run::advance() {
  const memory_budget::use counted{memory_};
  const query_watch watched{&ask_whether_to_go_on, this};
  rows_before_ += rows_.size();
  rows_.clear();
  told_ = 0;
  room_.clear();
  if (select_ != nullptr || begin()) find_rows();
  if (is_in_the_way_) fail(failure_kind::busy, kept_the_log);
  is_over_ = is_over_ || is_late_ || !fault_.message.empty();
  if (is_over_) end();
}

void query_run::end() noexcept {
  if (!by_) return;
  select_.reset();
  confined_.reset();
  moment_.reset();
  by_.reset();
  if (memory_.most() >= trimmed_from) ::malloc_trim(0);
}

bool query_run::begin() {
  const query_shape shape = shape_of(request_.text);
  if (!check_text(shape)) return false;
  auto lent = from_.reader(request_.database);
  if (!lent) return fail(failure_kind::input_output, std::move(lent.error()));
  by_.emplace(std::move(*lent));
  auto moment = snapshot::begin(**by_);
  if (!moment) return fail(moment.error());
  if (!by_->is_in_place())
    return fail(failure_kind::busy, "the database's file has changed: try again");
  moment_.emplace(std::move(*moment));
  calls_to_leave_ = writer_.calls_to_leave();
  confined_.emplace(**by_, shape, &ask_whether_to_go_on, this);
  if (!prepare() || !bind_all()) return false;
  confined_->let_modules_read();
  return read_columns();
}

bool query_run::check_text(const query_shape& shape) {
  const std::string_view text = request_.text;
  const auto too_much = [&](std::size_t count, std::string_view what, std::size_t most) {
    return refuse(query_fault::limit,
                  weft::format("the query has {} {}; at most {} are allowed", count, what, most));
  };
  // A length that is too much for an int is too much for SQLite, too.
  if (text.size() > confinement::text_bytes_max)
    return too_much(text.size(), "bytes", confinement::text_bytes_max);
  if (const auto nul = text.find('\0'); nul != text.npos)
    return refuse(
        query_fault::syntax,
        weft::format("the query has a NUL, at byte {}: bind such a value to a parameter", nul));
  if (shape.parentheses > confinement::parentheses_max)
    return too_much(shape.parentheses, "parentheses within each other",
                    confinement::parentheses_max);
  if (shape.selects > confinement::selects_max)
    return too_much(shape.selects, "SELECTs", confinement::selects_max);
  return true;
}

bool query_run::prepare() {
  sqlite3* const database = (*by_)->get();
  const std::string_view text = request_.text;
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  const int code =
      sqlite3_prepare_v3(database, text.data(), static_cast<int>(text.size()), 0, &made, &rest);
  select_.reset(made);
  if (code != SQLITE_OK) return fail(code);
  if (made == nullptr) return refuse(query_fault::syntax, "the query is empty: write a SELECT");
  if (sqlite3_stmt_readonly(made) == 0 || sqlite3_column_count(made) == 0)
    return refuse(query_fault::unsupported, only_reads);
  sqlite3_stmt* second = nullptr;
  const auto left = static_cast<int>(text.data() + text.size() - rest);
  const int more = sqlite3_prepare_v3(database, rest, left, 0, &second, nullptr);
  sqlite3_finalize(second);
  if (more != SQLITE_OK || second != nullptr)
    return refuse(query_fault::unsupported, "a query is one statement, and here is more than that");
  return true;
}

int query_run::bind_one(int at, const value& bound) noexcept {
  return bind_value(select_.get(), at, bound, as_stored);
}

bool query_run::bind_all() {
  const std::span given = request_.parameters;
  if (!given.empty() && !given.front().name.empty()) return bind_by_name();
  const auto wanted = static_cast<std::size_t>(sqlite3_bind_parameter_count(select_.get()));
  if (wanted != given.size())
    return refuse(
        query_fault::semantic,
        weft::format("the query takes {} parameters, and {} are given", wanted, given.size()));
  for (std::size_t i = 0; i < given.size(); ++i)
    if (const int code = bind_one(static_cast<int>(i + 1), given[i].bound); code != SQLITE_OK)
      return fail(code);
  return true;
}

bool query_run::bind_by_name() {
  struct given_value {
    const value* bound;
    bool is_used = false;
  };
  hash_map<std::string_view, given_value> given;
  for (const query_parameter& each : request_.parameters)
    given.try_emplace(each.name, given_value{&each.bound});
  const int wanted = sqlite3_bind_parameter_count(select_.get());
  for (int at = 1; at <= wanted; ++at) {
    const char* const written = sqlite3_bind_parameter_name(select_.get(), at);
    if (written == nullptr || *written == '?')
      return refuse(query_fault::semantic,
                    weft::format("parameter {} has no name: give a list of values", at));
    const auto found = given.find(std::string_view{written + 1});
    if (found == given.end())
      return refuse(query_fault::semantic,
                    weft::format("no value is given for the parameter {}", written));
    found->second.is_used = true;
    if (const int code = bind_one(at, *found->second.bound); code != SQLITE_OK) return fail(code);
  }
  const auto unused =
      std::ranges::find_if(given, [](const auto& each) { return !each.second.is_used; });
  if (unused == given.end()) return true;
  return refuse(query_fault::semantic,
                weft::format("the query has no parameter named {}", unused->first));
}

bool query_run::read_columns() {
  const int count = sqlite3_column_count(select_.get());
  if (count > confinement::columns_max)
    return refuse(query_fault::limit,
                  weft::format("the result has {} columns; at most {} are allowed", count,
                               confinement::columns_max));
  distinct_names names;
  for (int i = 0; i < count; ++i) {
    const char* const name = sqlite3_column_name(select_.get(), i);
    if (name == nullptr) return fail(SQLITE_NOMEM);
    column made = as_stored;
    made.name = names.add(name);
    if (const char* const declared = sqlite3_column_decltype(select_.get(), i))
      read_declared_type(declared, made);
    made.is_dynamic = false;  // results are not written again: they need no tags
    columns_.push_back(std::move(made));
  }
  return true;
}

void query_run::find_rows() {
  std::size_t bytes = 0;
  while (rows_.size() < rows_at_once && bytes < bytes_at_once) {
    const int code = sqlite3_step(select_.get());
    if (code == SQLITE_ROW) {
      is_cut_ = rows_before_ + rows_.size() >= request_.rows_max;
      is_over_ = is_cut_;
      if (is_cut_) return;
      if (!keep_row(bytes) || is_to_end()) return;
      continue;
    }
    is_over_ = true;
    if (code != SQLITE_DONE && code != SQLITE_INTERRUPT) fail(code);
    return;
  }
}

bool query_run::keep_row(std::size_t& bytes) {
  std::size_t content = 0;
  for (int i = 0; i < static_cast<int>(columns_.size()); ++i) {
    const int type = sqlite3_column_type(select_.get(), i);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB)
      content += static_cast<std::size_t>(sqlite3_column_bytes(select_.get(), i));
  }
  if (content > confinement::row_bytes_max)
    return refuse(query_fault::limit,
                  weft::format("a row of the result has {} bytes; at most {} are allowed: ask for "
                               "fewer columns, or for parts of them",
                               content, confinement::row_bytes_max));
  const std::span<value> copies = room_.make_array<value>(columns_.size());
  bytes += copies.size_bytes();
  for (std::size_t i = 0; i < columns_.size(); ++i)
    copies[i] =
        copy_value(column_value(select_.get(), static_cast<int>(i), columns_[i]), room_, bytes);
  // What SQLite had no memory to convert looks as if it were NULL.
  if (memory_.was_exceeded()) return fail(SQLITE_NOMEM);
  rows_.emplace_back(copies);
  return true;
}

bool query_run::fail(failure_kind why, std::string message) {
  message_ = std::move(message);
  fault_ = {.kind = why, .message = message_};
  return false;
}

bool query_run::refuse(query_fault of, std::string message) {
  fail(failure_kind::invalid, std::move(message));
  fault_.of_query = of;
  return false;
}

bool query_run::fail(int code) {
  connection& by = **by_;
  if (memory_.was_exceeded())
    return refuse(query_fault::limit,
                  weft::format("the query needs too much memory: at most {} MiB "
                               "(store.sqlite.engine.query_memory_bytes): sort, group or join less",
                               bounds_.memory_bytes >> 20U));
  switch (code & 0xff) {
    case SQLITE_AUTH:
      return refuse(query_fault::unsupported,
                    weft::format("{}: {}", sqlite3_errmsg(by.get()), only_reads));
    // Of what the client wrote, and of the values that it meets.
    case SQLITE_TOOBIG:
      return refuse(
          query_fault::limit,
          weft::format("{}: a query takes values of at most {} bytes: leave the column out, "
                       "or read the row by its key",
                       sqlite3_errmsg(by.get()), confinement::value_bytes_max));
    // Where memory is there: what prepare() says of a program that is too long.
    case SQLITE_NOMEM:
      return refuse(query_fault::limit,
                    "the query is too long a program for SQLite, once its parts are put into each "
                    "other: ask for less at once");
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE: {
      const char* const message = sqlite3_errmsg(by.get());
      return refuse(fault_of(message), message);
    }
    default: return fail(kind_of(code), by.describe(code));
  }
}

bool query_run::tell(query_sink& to) {
  if (!has_told_columns_) to.columns(columns_);
  has_told_columns_ = true;
  while (told_ < rows_.size()) {
    if (!to.row(rows_[told_++])) return false;
    if (to.is_turn_over()) break;
  }
  return true;
}

}  // namespace weft::store::sqlite

#include <weft/store/sqlite/scan_slice.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <weft/store/engine.hpp>
#include <weft/store/sqlite/memory_budget.hpp>
#include <weft/store/sqlite/row_lookup.hpp>
#include <weft/store/value_copy.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t rows_of_a_slice = 256;
constexpr std::size_t bytes_of_a_slice = 256 * 1024;
constexpr int instructions_between_looks = 20'000;  // of SQLite's machine: some 100 us
/// What SQLite may take beside a row: pages, and rows that it sorts.
constexpr std::size_t own_bytes = std::size_t{4} * 1024 * 1024;

/// What a connection asks as it goes, while it lives.
class [[nodiscard]] progress_question {
 public:
  using function = int (*)(void*);

  progress_question(connection& on, function asked, void* with) noexcept : on_{on.get()} {
    sqlite3_progress_handler(on_, instructions_between_looks, asked, with);
  }
  progress_question(const progress_question&) = delete;
  progress_question& operator=(const progress_question&) = delete;
  ~progress_question() { sqlite3_progress_handler(on_, 0, nullptr, nullptr); }

 private:
  sqlite3* on_;
};

/// On a connection, while it lives.
class [[nodiscard]] known_function {
 public:
  using function = void (*)(sqlite3_context*, int, sqlite3_value**);

  /// nullptr: there is none.
  known_function(connection& on, function called, void* with) noexcept
      : on_{called != nullptr ? on.get() : nullptr}, code_{set(called, with)} {}
  known_function(const known_function&) = delete;
  known_function& operator=(const known_function&) = delete;
  // To take away what is there needs no memory.
  ~known_function() { static_cast<void>(set(nullptr, nullptr)); }

  /// SQLite's, of making it known.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  [[nodiscard]] int set(function called, void* with) const noexcept {
    if (on_ == nullptr) return SQLITE_OK;
    return sqlite3_create_function_v2(on_, turn_is_over_function, 0, SQLITE_UTF8, with, called,
                                      nullptr, nullptr, nullptr);
  }

  sqlite3* on_;
  int code_;
};

}  // namespace

scan_slice::scan_slice(storage& from, std::int64_t version, const scan_request& request,
                       std::span<const value> place, std::size_t rows_max, std::size_t bytes_max,
                       scan_pace pace)
    : from_{from},
      version_{version},
      request_{request},
      place_{place},
      pace_{pace},
      tells_found_{pace.by_steps && request.where != nullptr},
      place_size_{order_of(request).size() + request.from->definition().tie_breakers.size()},
      rows_max_{std::min(rows_max, rows_of_a_slice)},
      bytes_max_{bytes_max},
      turn_ends_{time_point::max()} {}

int scan_slice::look_up_from_work(void* self) {
  auto& slice = *static_cast<scan_slice*>(self);
  const bool has_clock = slice.pace_.until != time_point::max() ||
                         slice.turn_ends_ != time_point::max();  // a simulated one stands still
  if (has_clock) {
    const time_point now = std::chrono::steady_clock::now();
    slice.is_late_ = now >= slice.pace_.until;
    slice.is_long_ = now >= slice.turn_ends_;
  }
  // By steps each slice comes further.
  const bool may_end = !slice.pace_.by_steps || !slice.rows_.empty();
  const bool is_turn_over = slice.is_long_ && !slice.tells_found_ && may_end;
  return slice.is_late_ || is_turn_over || slice.is_stopped() ? 1 : 0;
}

/// Asked of a row that is not found: the slice ends there, and the next one goes on behind it. To
/// come to the first of them may have taken long, among many that are equal for the index.
void scan_slice::tell_whether_turn_is_over(sqlite3_context* to, int, sqlite3_value**) {
  auto& slice = *static_cast<scan_slice*>(sqlite3_user_data(to));
  if (slice.turn_ends_ == time_point::max()) slice.begin_turn();
  sqlite3_result_int(to, slice.is_long_ ? 1 : 0);
}

void scan_slice::begin_turn() noexcept {
  if (pace_.turn != duration::max()) turn_ends_ = std::chrono::steady_clock::now() + pace_.turn;
}

void scan_slice::run() {
  auto by = from_.reader(request_.from->database());
  if (!by) {
    is_stale_ = !from_.has_file(request_.from->database());
    if (!is_stale_) fail(failure_kind::input_output, std::move(by.error()));
    return;
  }
  connection& reader = **by;
  file_ = reader.identity();
  if (const int code = reader.run("BEGIN"); code != SQLITE_OK) {
    fail(kind_of(code), reader.describe(code));
    return;
  }
  const auto version = reader.number("PRAGMA schema_version");
  if (!version)
    fail(kind_of(version.error()), reader.describe(version.error()));
  else if (*version != version_ || !by->is_in_place())
    is_stale_ = true;
  else
    find_all(reader);
  reader.roll_back();
}

void scan_slice::find_all(connection& by) {
  if (!tells_found_) begin_turn();
  const progress_question asked{by, &look_up_from_work, this};
  int code = SQLITE_DONE;
  for (const scan_step& step : steps_behind(request_, place_)) {
    code = find(by, step);
    if (code != SQLITE_DONE) break;
  }
  if (code == SQLITE_INTERRUPT || is_too_long_)
    has_more_ = true;
  else if (code != SQLITE_ROW && code != SQLITE_DONE && fault_.message.empty())
    fail(kind_of(code), by.describe(code));
}

/// What the last step gave; SQLITE_ROW: there is more.
int scan_slice::find(connection& by, scan_step from) {
  const scan_sql sql{request_, place_, {.step = from, .by_steps = pace_.by_steps}};
  const known_function asked{by, tells_found_ ? &tell_whether_turn_is_over : nullptr, this};
  if (asked.code() != SQLITE_OK) return asked.code();
  const statement select = by.prepare(sql.text());
  if (select == nullptr) {
    const int refused = sqlite3_extended_errcode(by.get());
    fail(kind_of_refused(refused), by.describe(refused));
    return refused;
  }
  // One more tells whether there is more.
  int code = sql.bind(select.get(), rows_max_ - rows_.size() + 1);
  if (code != SQLITE_OK) return code;
  const int found = static_cast<int>(request_.columns.size() + place_size_);
  while (!has_more_ && (code = step(by, select.get(), from)) == SQLITE_ROW)
    take(select.get(), !tells_found_ || sqlite3_column_int(select.get(), found) != 0);
  return code;
}

/// As cold_batch::measure(), for the first row that matches. By steps, the row that was too large
/// may be an earlier one that does not match; the caller's minimum growth covers that.
std::size_t scan_slice::measure(connection& by, scan_step from) {
  memory_budget memory{own_bytes + bytes_max_};
  const memory_budget::use here{memory};
  const scan_sql sql{request_, place_, {.step = from, .sizes = true}};
  const statement sizes = by.prepare(sql.text());
  if (sizes == nullptr || sql.bind(sizes.get(), 1) != SQLITE_OK) return 0;
  return sqlite3_step(sizes.get()) == SQLITE_ROW
             ? told_row_bytes(sizes.get(), request_.columns.size())
             : 0;
}

int scan_slice::step(connection& by, sqlite3_stmt* select, scan_step from) {
  memory_budget memory{own_bytes + bytes_max_};
  const memory_budget::use here{memory};
  const int code = sqlite3_step(select);
  const bool has_ended = code == SQLITE_ROW || code == SQLITE_DONE || code == SQLITE_INTERRUPT;
  if (!has_ended && memory.was_exceeded())
    leave(std::max(memory.wanted(), rows_.empty() ? measure(by, from) : 0));
  return code;
}

/// Those that were found before are told first.
void scan_slice::leave(std::size_t row_bytes) noexcept {
  if (rows_.empty()) wanted_bytes_ = row_bytes;
  is_too_long_ = true;
  has_more_ = true;
}

void scan_slice::take(sqlite3_stmt* row, bool is_found) {
  has_more_ = !is_found || rows_.size() == rows_max_ || bytes_ >= bytes_of_a_slice;
  if (is_found && has_more_) return;
  const int place_at = static_cast<int>(request_.columns.size());
  std::size_t bytes = is_found ? row_bytes(row, *request_.from, request_.columns) : 0;
  for (std::size_t i = 0; i < place_size_; ++i)
    bytes += bytes_of(column_value(row, place_at + static_cast<int>(i), as_stored));
  if (bytes_ + bytes > bytes_max_) return leave(bytes);
  std::span<const value> values;
  if (is_found) values = copy_values(row, *request_.from, request_.columns, room_, bytes_);
  const std::span<value> place = room_.make_array<value>(place_size_);
  bytes_ += place.size_bytes();
  int at = place_at;
  for (value& each : place) each = copy_value(column_value(row, at++, as_stored), room_, bytes_);
  last_ = place;
  if (is_found) rows_.push_back({.values = values, .place = place});
}

void scan_slice::fail(failure_kind why, std::string message) {
  message_ = std::move(message);
  fault_ = {.kind = why, .message = message_};
}

std::size_t scan_slice::tell(scan_sink& to, std::size_t first, memory_reservation& memory) const {
  for (std::size_t i = first; i < rows_.size(); ++i) {
    const std::span<const value> values = rows_[i].values;
    if (const std::size_t bytes = bytes_of(values); bytes <= long_row_bytes)
      to.row(values);
    else if (!to.long_row(values,
                          memory.split(told_bytes(bytes, values.size()), memory_kind::replies)))
      return i;
    if (to.is_turn_over()) return i + 1;
  }
  return rows_.size();
}

std::span<const value> scan_slice::last_place(std::size_t rows, scratch& room) const {
  std::span<const value> last = last_;
  if (rows != rows_.size()) last = rows == 0 ? std::span<const value>{} : rows_[rows - 1].place;
  std::size_t bytes = 0;
  return copy_values(last, room, bytes);
}

}  // namespace weft::store::sqlite

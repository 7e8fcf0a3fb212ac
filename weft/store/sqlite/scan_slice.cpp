#include <weft/store/sqlite/scan_slice.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <weft/store/sqlite/row_lookup.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t rows_of_a_slice = 256;
constexpr std::size_t bytes_of_a_slice = 256 * 1024;
constexpr int instructions_between_looks = 20'000;  // of SQLite's machine: some 100 us

}  // namespace

scan_slice::scan_slice(storage& from, std::int64_t version, const scan_request& request,
                       std::span<const value> place, std::size_t rows_max, time_point until)
    : from_{from},
      version_{version},
      request_{request},
      sql_{request, place},
      given_{request.columns.begin(), request.columns.end()},
      rows_max_{std::min(rows_max, rows_of_a_slice)},
      until_{until} {
  given_.insert(given_.end(), sql_.order().begin(), sql_.order().end());
}

int scan_slice::look_up_from_work(void* self) {
  auto& slice = *static_cast<scan_slice*>(self);
  slice.is_late_ =
      slice.until_ != time_point::max() &&  // which a simulated clock would never reach
      std::chrono::steady_clock::now() >= slice.until_;
  return slice.is_late_ || slice.is_stopped() ? 1 : 0;
}

void scan_slice::run() {
  auto by = from_.reader(request_.from->database());
  if (!by) {
    fail(failure_kind::input_output, std::move(by.error()));
    return;
  }
  connection& reader = **by;
  if (const int code = reader.run("BEGIN"); code != SQLITE_OK) {
    fail(kind_of(code), reader.describe(code));
    return;
  }
  const auto version = reader.number("PRAGMA schema_version");
  if (!version)
    fail(kind_of(version.error()), reader.describe(version.error()));
  else if (*version != version_)
    is_stale_ = true;
  else
    find_all(reader);
  if (sqlite3_get_autocommit(reader.get()) == 0) static_cast<void>(reader.run("ROLLBACK"));
}

void scan_slice::find_all(connection& by) {
  const statement select = by.prepare(sql_.text());
  int code = select == nullptr ? sqlite3_extended_errcode(by.get())
                               // One more tells whether there is more.
                               : sql_.bind(select.get(), rows_max_ + 1);
  sqlite3_progress_handler(by.get(), instructions_between_looks, &look_up_from_work, this);
  std::size_t bytes = 0;
  while (code == SQLITE_OK && (code = sqlite3_step(select.get())) == SQLITE_ROW) {
    has_more_ = rows_.size() == rows_max_ || bytes >= bytes_of_a_slice;
    if (has_more_) break;
    rows_.push_back(copy_values(select.get(), *request_.from, given_, room_, bytes));
    code = SQLITE_OK;
  }
  sqlite3_progress_handler(by.get(), 0, nullptr, nullptr);
  if (code != SQLITE_ROW && code != SQLITE_DONE && code != SQLITE_INTERRUPT)
    fail(kind_of(code), by.describe(code));
}

void scan_slice::fail(failure_kind why, std::string message) {
  message_ = std::move(message);
  fault_ = {.kind = why, .message = message_};
}

std::size_t scan_slice::tell(scan_sink& to) const {
  for (const std::span<const value> row : rows_) to.row(row.first(request_.columns.size()));
  return rows_.size();
}

std::span<const value> scan_slice::last_place(scratch& room) const {
  if (rows_.empty()) return {};
  const std::span<const value> last = rows_.back().subspan(request_.columns.size());
  const std::span<value> copies = room.make_array<value>(last.size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    copies[i] = last[i];
    if (last[i].kind() == value_kind::text) copies[i] = value::text(room.copy(last[i].as_text()));
    if (last[i].kind() == value_kind::bytes) copies[i] = value::bytes(room.copy(last[i].as_text()));
  }
  return copies;
}

}  // namespace weft::store::sqlite

#include <weft/store/mysql/scan_run.hpp>

#include <algorithm>
#include <utility>

#include <weft/store/engine.hpp>
#include <weft/store/mysql/scan_sql.hpp>
#include <weft/store/turn_share.hpp>
#include <weft/store/value_copy.hpp>

namespace weft::store::mysql {
namespace {

constexpr std::size_t rows_at_once_max = 1024;
constexpr std::size_t growth_max = 16;
constexpr std::size_t bytes_wanted = 256 * 1024;
/// So much that nobody wants is let come, rather than that the connection is made anew.
constexpr std::size_t bytes_unwanted_max = 1024 * 1024;

/// Of a scan of which no row is known.
std::size_t rows_at_first(const scan_request& of) noexcept {
  const bool may_be_long = std::ranges::any_of(of.columns, [&](column_position at) {
    const column& each = of.from->columns()[at];
    return (each.type == column_type::text || each.type == column_type::blob) &&
           !each.is_enumerated;
  });
  return may_be_long ? 8 : 64;
}

}  // namespace

scan_run::scan_run(const scan_request& request, std::span<const value> place) noexcept
    : request_{request},
      place_{place},
      left_{request.limit},
      rows_at_once_{rows_at_first(request)} {}

task<result<void>> scan_run::advance(connection& by, scan_sink& to) {
  const std::size_t rows = std::min(left_, rows_at_once_);
  const scan_sql sql{request_, place_, rows + 1};  // one more tells whether there is more
  const auto select = co_await by.prepared(sql.text());
  if (!select) co_return fail(select.error());
  if (const auto ran = co_await by.begin(**select, sql.parameters()); !ran) co_return ran;
  if (const auto read = co_await read_rows(by, **select, rows); !read) co_return read;
  adapt(rows);
  co_await tell(to);
  co_return {};
}

task<result<void>> scan_run::read_rows(connection& by, statement& from, std::size_t rows_max) {
  forget_part();
  part_bytes_ = 0;
  is_over_ = false;
  for (;;) {
    const bool is_full = part_.size() == rows_max || part_bytes_ >= bytes_wanted;
    const auto is_row = co_await by.fetch(from, is_full ? row_wait::none : row_wait::in_line);
    // There is a row that is left to the next part, which finds memory for it or not.
    if (!is_row && is_row.error() == errc::exhausted && !part_.empty()) co_return {};
    if (!is_row) co_return fail(is_row.error());
    is_over_ = !*is_row;
    if (is_over_) co_return {};
    if (is_full) break;
    keep_row(by, from);
  }
  co_await drop_rest(by, from, rows_max - part_.size());
  co_return {};
}

void scan_run::keep_row(connection& by, const statement& from) {
  const std::size_t before = part_bytes_;
  part_.push_back(copy_values(from.row(), part_room_, part_bytes_));
  if (!by.has_long_row()) return;
  const std::size_t bytes = part_bytes_ - before;
  part_memory_.join(by.take_row_memory(bytes));
  told_memory_.join(by.take_row_memory(told_bytes(bytes, part_.back().size())));
}

void scan_run::forget_part() noexcept {
  part_.clear();
  part_room_.clear();
  part_memory_.reset();
  told_memory_.reset();
}

task<void> scan_run::drop_rest(connection& by, statement& of, std::size_t rows) const {
  const std::size_t expected = rows * (part_bytes_ / part_.size());
  for (std::size_t dropped = 0; std::max(expected, dropped) <= bytes_unwanted_max;) {
    const auto is_row = co_await by.fetch(of, row_wait::none);
    if (!is_row) break;  // those that were wanted are none the worse for it
    if (!*is_row) co_return;
    dropped += store::bytes_of(of.row());
  }
  by.close();
}

task<void> scan_run::tell(scan_sink& to) {
  std::size_t told = 0;
  while (told < part_.size() && tell_row(part_[told], to)) {
    ++told;
    if (to.is_turn_over()) co_await next_turn(event_loop::current());
  }
  is_over_ = is_over_ && told == part_.size();
  left_ -= told;
  if (told != 0) {
    scratch next;
    std::size_t bytes = 0;
    place_ = copy_values(part_[told - 1].subspan(request_.columns.size()), next, bytes);
    room_ = std::move(next);
  }
  forget_part();
}

bool scan_run::tell_row(std::span<const value> row, scan_sink& to) {
  const std::span<const value> wanted = row.first(request_.columns.size());
  const std::size_t bytes = store::bytes_of(row);
  if (bytes <= long_row_bytes) {
    to.row(wanted);
    return true;
  }
  return to.long_row(wanted,
                     told_memory_.split(told_bytes(bytes, row.size()), memory_kind::replies));
}

void scan_run::adapt(std::size_t rows_max) noexcept {
  const std::size_t rows = std::max<std::size_t>(part_.size(), 1);
  std::size_t expected = rows;
  if (rows == rows_max)
    expected =
        std::min(rows * bytes_wanted / std::max<std::size_t>(part_bytes_, 1), rows * growth_max);
  rows_at_once_ = std::clamp<std::size_t>(expected, 1, rows_at_once_max);
}

}  // namespace weft::store::mysql

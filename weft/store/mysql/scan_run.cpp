#include <weft/store/mysql/scan_run.hpp>

#include <algorithm>
#include <utility>

#include <weft/store/mysql/scan_sql.hpp>
#include <weft/store/value_copy.hpp>

namespace weft::store::mysql {
namespace {

constexpr std::size_t rows_max = 1024;
constexpr std::size_t bytes_wanted = 256 * 1024;

std::size_t bytes_of(std::span<const value> row) noexcept {
  std::size_t bytes = row.size_bytes();
  for (const value& each : row)
    if (each.kind() == value_kind::text || each.kind() == value_kind::bytes)
      bytes += each.as_text().size();
  return bytes;
}

}  // namespace

task<result<void>> scan_run::advance(connection& by, scan_sink& to) {
  const std::size_t rows = std::min(left_, rows_at_once_);
  const scan_sql sql{request_, place_, rows + 1};  // one more tells whether there is more
  const auto select = co_await by.prepared(sql.text());
  if (!select) co_return fail(select.error());
  if (const auto ran = co_await by.execute(**select, sql.parameters()); !ran) co_return ran;
  std::size_t told = 0;
  std::size_t bytes = 0;
  const std::size_t wanted = request_.columns.size();
  std::span<const value> last;
  scratch next;
  while (told < rows && (*select)->next()) {
    const std::span row = (*select)->row();
    bytes += bytes_of(row);
    ++told;
    if (told == rows) {
      std::size_t copied = 0;
      last = copy_values(row.subspan(wanted), next, copied);
    }
    to.row(row.first(wanted));
  }
  left_ -= told;
  is_over_ = told < rows || !(*select)->next();
  adapt(bytes);
  if (!last.empty()) {
    place_ = last;
    room_ = std::move(next);
  }
  co_return {};
}

void scan_run::adapt(std::size_t bytes) noexcept {
  if (bytes < bytes_wanted / 2)
    rows_at_once_ = std::min(rows_at_once_ * 2, rows_max);
  else if (bytes > bytes_wanted)
    rows_at_once_ = std::max<std::size_t>(rows_at_once_ / 2, 1);
}

}  // namespace weft::store::mysql

#include <apps/weftd/export_rows.hpp>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/file_swap.hpp>
#include <weft/store/sqlite/handle.hpp>

#include <apps/weftd/foreign_stream.hpp>
#include <apps/weftd/known_table.hpp>
#include <apps/weftd/row_writer.hpp>

namespace weftd {
namespace {

namespace store = weft::store;

constexpr std::size_t rows_at_once = 1000;
constexpr std::size_t pipe_bytes = PIPE_BUF;

class written_rows final : public store::scan_sink {
 public:
  written_rows(row_writer& writer, std::string& out) noexcept : writer_{writer}, out_{out} {}

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] const std::optional<std::string>& failure() const noexcept { return failure_; }

 private:
  void row(std::span<const store::value> values) override {
    ++rows_;
    writer_.append(values, out_);
  }
  void failed(const store::failure& why) override { failure_ = why.message; }

  row_writer& writer_;
  std::string& out_;
  std::uint64_t rows_ = 0;
  std::optional<std::string> failure_;
};

/// Nothing: it is written.
std::optional<std::string> write_all(std::string& text, std::FILE* to) {
  const int fd = ::fileno(to);
  struct stat facts{};
  const bool is_file = ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
  for (std::string_view left = text; !left.empty();) {
    // A pipe that is ready takes a page without a wait.
    if (!is_file) wait_for(fd, POLLOUT);
    const ssize_t written =
        ::write(fd, left.data(), is_file ? left.size() : std::min(left.size(), pipe_bytes));
    if (written < 0)
      return weft::format("the rows cannot be written: {}", std::generic_category().message(errno));
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  text.clear();
  return std::nullopt;
}

std::vector<store::column_position> all_columns(const store::table& of) {
  std::vector<store::column_position> all(of.columns().size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<store::column_position>(i);
  return all;
}

}  // namespace

row_export::row_export(row_export_options options, store::engine& engine, weft::lifetime& own,
                       weft::maybe<store::file_swapper> files)
    : job_{std::move(options.job)}, engine_{engine}, files_{files}, own_{own} {}

void row_export::start() { own_.spawn(run()); }

weft::task<void> row_export::run() {
  auto fault = co_await export_all();
  progress_.clear();
  job_->seconds = std::chrono::duration<double>{progress_.elapsed()}.count();
  if (fault) job_->why = std::move(*fault);
  job_->finished();
}

weft::task<std::optional<std::string>> row_export::export_all() {
  const store::catalog_ref schema = engine_.schema();
  const auto from = known_table(*schema, job_->database, job_->table);
  if (!from) co_return from.error();
  co_return co_await export_rows(**from);
}

std::optional<store::sqlite::file_identity> row_export::file() const {
  store::file_swapper* const files = files_.get();
  if (files == nullptr || files->folder().empty()) return std::nullopt;
  const auto found =
      store::sqlite::identify(weft::format("{}/{}.db", files->folder(), job_->database));
  return found ? std::optional{*found} : std::nullopt;
}

weft::task<std::optional<std::string>> row_export::export_rows(const store::table& from) {
  const auto asked = co_await weft::this_task::environment();
  const auto columns = all_columns(from);
  row_writer writer{job_->format, from, columns};
  std::string out;
  writer.begin(out);
  std::string continuation;
  const auto before = file();
  do {
    written_rows rows{writer, out};
    auto rest = co_await engine_.scan(
        {.from = &from, .columns = columns, .limit = rows_at_once, .continuation = continuation},
        rows);
    if (rows.failure()) co_return rows.failure();
    if (!rest) {
      if (asked.stop.stop_requested()) co_return std::nullopt;
      co_return weft::format("the rows could not be read: {}", rest.error().message());
    }
    // After the rows: what is of another file has come after that had its name.
    if (file() != before)
      co_return weft::format("the file of {} was replaced meanwhile: export it again",
                             job_->database);
    if (auto fault = write_all(out, job_->to)) co_return fault;
    job_->rows += rows.rows();
    continuation = std::move(*rest);
    if (asked.stop.stop_requested() && !continuation.empty()) co_return std::nullopt;
    progress_.show({.count = job_->rows});
  } while (!continuation.empty());
  job_->is_done = true;
  co_return std::nullopt;
}

}  // namespace weftd

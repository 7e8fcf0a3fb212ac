#include <weft/store/sqlite/writer.hpp>

#include <chrono>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/loop/thread_place.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t operations_per_commit = 4096;
// So much longer than options.checkpoint_pages the log may grow while others read from it; then
// they are waited for.
constexpr int log_growth = 16;
constexpr int page_bytes = 4096;

const char* name_of(durability how) noexcept {
  switch (how) {
    case durability::full: return "FULL";
    case durability::normal: return "NORMAL";
    case durability::off: return "OFF";
  }
  return "FULL";
}

/// Whether the file is to be opened anew: it may have been mended, or may be written to by now.
bool is_of_file(int code) noexcept {
  const failure_kind why = kind_of(code);
  return why == failure_kind::input_output || why == failure_kind::corrupt ||
         why == failure_kind::read_only;
}

int note_log_pages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

}  // namespace

writer::writer(std::string path, const engine_options& options, std::atomic<std::uint64_t>& commits)
    : path_{std::move(path)}, options_{options}, commits_{commits} {}

writer::~writer() {
  {
    const std::lock_guard lock{mutex_};
    ends_ = true;
  }
  filled_.notify_all();
  if (thread_.joinable()) thread_.join();
  close();
}

result<void> writer::submit(queued_write& batch) {
  const std::lock_guard lock{mutex_};
  if (waiting_ >= options_.writes_waiting_max) return fail(errc::limit_exceeded);
  if (const auto started = start_thread(); !started) return started;
  line_.push_back(batch);
  ++waiting_;
  filled_.notify_one();
  return {};
}

result<void> writer::start_thread() {
  if (thread_.joinable()) return {};
  try {
    thread_ = std::thread{[this] { work(); }};
    return {};
  } catch (const std::system_error& why) {
    return fail(error::from_errno(why.code().value()));
  }
}

bool writer::take_back(queued_write& batch) noexcept {
  const std::lock_guard lock{mutex_};
  if (!batch.in_line_.is_linked()) return false;
  line_.erase(batch);
  --waiting_;
  return true;
}

std::size_t writer::waiting() {
  const std::lock_guard lock{mutex_};
  return waiting_;
}

void writer::write_here(queued_write& batch) {
  queued_write* const one = &batch;
  write({&one, 1});
  checkpoint();
}

void writer::work() {
  place_thread({.name = "store", .index = 0, .pin = pinning::never});
  unpin_thread();
  for (;;) {
    const std::vector<queued_write*> batches = take_group();
    if (batches.empty()) return;
    write(batches);
    for (queued_write* const each : batches) each->come_back();
    checkpoint();
  }
}

/// Empty: it is time to end.
std::vector<queued_write*> writer::take_group() {
  std::unique_lock lock{mutex_};
  filled_.wait(lock, [this] { return ends_ || !line_.empty(); });
  std::vector<queued_write*> batches;
  batches.reserve(waiting_);
  std::size_t operations = 0;
  while (operations < operations_per_commit) {
    queued_write* const next = line_.pop_front();
    if (next == nullptr) break;
    --waiting_;
    operations += next->operations_.size();
    batches.push_back(next);
  }
  return batches;
}

void writer::write(std::span<queued_write* const> batches) noexcept {
  const std::lock_guard lock{writing_};
  try {
    const auto ready = make_ready();
    if (ready) {
      write_group_or_each(batches);
      return;
    }
    for (queued_write* const each : batches)
      each->fail_all(ready.error().why, ready.error().message, std::nullopt);
  } catch (const std::bad_alloc&) {
    for (queued_write* const each : batches) each->refusal_ = errc::exhausted;
    close();  // whatever has begun is rolled back
  }
}

/// Opens the file that is there now.
std::expected<void, writer::fault> writer::make_ready() {
  const auto identity = identify(path_);
  const bool is_good =
      connection_ && !is_suspect_ && identity && *identity == connection_->identity();
  if (is_good) return {};
  close();
  auto opened = open();
  if (!opened) return std::unexpected{std::move(opened.error())};
  connection_.emplace(std::move(*opened));
  statements_.emplace();
  is_suspect_ = false;
  sqlite3_wal_hook(connection_->get(), &note_log_pages, &log_pages_);
  return {};
}

std::expected<connection, writer::fault> writer::open() const {
  auto opened = connection::open(path_, access::read_write);
  if (!opened) return std::unexpected{fault{failure_kind::input_output, std::move(opened.error())}};
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options_.busy_timeout);
  sqlite3_busy_timeout(opened->get(), static_cast<int>(timeout.count()));
  const std::string settings = weft::format(
      "PRAGMA journal_mode=WAL;PRAGMA synchronous={};PRAGMA wal_autocheckpoint=0;"
      "PRAGMA foreign_keys=ON;PRAGMA mmap_size=0;PRAGMA journal_size_limit={}",
      name_of(options_.synchronous), std::int64_t{options_.checkpoint_pages} * 2 * page_bytes);
  const int code = opened->run(settings.c_str());
  if (code != SQLITE_OK) return std::unexpected{fault{kind_of(code), opened->describe(code)}};
  return std::move(*opened);
}

void writer::write_group_or_each(std::span<queued_write* const> batches) {
  write_group group{*connection_, *statements_};
  if (group.run(batches)) {
    commits_.fetch_add(1, std::memory_order_release);
    batches.front()->has_led_commit_ = true;
    return;
  }
  const failure_kind why = kind_of(group.code());
  is_suspect_ = is_suspect_ || is_of_file(group.code());
  if (batches.size() == 1) {
    batches.front()->is_stale_ = false;
    batches.front()->fail_all(why, group.fault(), group.culprit());
    return;
  }
  // What is too much for one of them need not be for the others.
  for (queued_write* const& each : batches) {
    if (is_suspect_) {
      each->is_stale_ = false;
      each->fail_all(why, group.fault(), std::nullopt);
    } else {
      write_group_or_each({&each, 1});
    }
  }
}

void writer::checkpoint() noexcept {
  const std::lock_guard lock{writing_};
  const int wanted = static_cast<int>(options_.checkpoint_pages);
  if (!connection_ || log_pages_ < wanted) return;
  const bool has_grown = log_pages_ >= wanted * log_growth;
  const int code = sqlite3_wal_checkpoint_v2(
      connection_->get(), nullptr,
      has_grown ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK && has_grown) log_pages_ = 0;
  is_suspect_ = is_suspect_ || (code & 0xff) == SQLITE_IOERR;
}

void writer::close() noexcept {
  if (connection_ && !is_suspect_)
    sqlite3_wal_checkpoint_v2(connection_->get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                              nullptr);
  statements_.reset();
  connection_.reset();
  log_pages_ = 0;
}

}  // namespace weft::store::sqlite

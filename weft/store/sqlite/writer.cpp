#include <weft/store/sqlite/writer.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/loop/thread_place.hpp>
#include <weft/store/sqlite/database_swap.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t operations_per_commit = 4096;
// So many times options.checkpoint_pages the log may have before it is emptied.
constexpr int log_growth = 16;
// So many more it has when that is tried again.
constexpr int log_growth_between = 8;
// And so many before those are called on to leave who keep it from being emptied.
constexpr int log_growth_max = 64;
// Nobody writes meanwhile.
constexpr int wait_for_readers_ms = 50;
constexpr int page_bytes = 4096;
constexpr std::chrono::seconds swap_patience{10};

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

writer::writer(served_file& file, const engine_options& options,
               std::atomic<std::uint64_t>& commits)
    : file_{file}, options_{options}, commits_{commits}, patience_{options.busy_timeout} {}

writer::~writer() { end(false); }

void writer::end(bool is_last) noexcept {
  {
    const std::lock_guard lock{mutex_};
    ends_ = true;
  }
  filled_.notify_all();
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock{writing_};
  try {
    static_cast<void>(settle_held());
    if (is_last && !connection_ && !file_.is_refused()) open_to_end();
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // The log stays, as after a crash.
  }
  close();
}

/// Readers alone cannot remove a log, be it empty.
void writer::open_to_end() {
  if (!file_.served() || !identify(file_.path() + "-wal")) return;
  auto opened = file_.open(access::read_write);
  if (opened && opened->number("PRAGMA schema_version")) connection_.emplace(std::move(*opened));
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
    group_.reserve(std::min<std::size_t>(options_.writes_waiting_max, operations_per_commit));
    thread_ = std::thread{[this] { work(); }};
    unpin_thread(thread_.native_handle());
    return {};
  } catch (const std::system_error& why) {
    return fail(error{errc::exhausted, why.code().value()});
  } catch (const std::bad_alloc&) {
    return fail(errc::exhausted);
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

void writer::write_here(std::span<queued_write* const> batches) {
  write(batches);
  checkpoint();
}

void writer::work() {
  place_thread({.name = "store", .index = 0, .pin = pinning::never});
  for (;;) {
    const std::span<queued_write* const> batches = take_group();
    if (batches.empty()) {
      if (has_ended()) return;
      try {
        empty_idle_log();
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
        // It is tried again after the next pause.
      }
      continue;
    }
    write(batches);
    for (queued_write* const each : batches) each->come_back();
    checkpoint();
  }
}

bool writer::has_ended() {
  const std::lock_guard lock{mutex_};
  return ends_ && line_.empty();
}

bool writer::has_log() {
  const std::lock_guard lock{writing_};
  return log_pages_ > 0;
}

/// Empty: it is time to end, or nobody has written for a while.
std::span<queued_write* const> writer::take_group() {
  const bool may_end_wait = has_log();
  std::unique_lock lock{mutex_};
  const auto has_work = [this] { return ends_ || !line_.empty(); };
  if (may_end_wait)
    static_cast<void>(filled_.wait_for(lock, options_.checkpoint_idle, has_work));
  else
    filled_.wait(lock, has_work);
  group_.clear();
  std::size_t operations = 0;
  while (operations < operations_per_commit && group_.size() < group_.capacity()) {
    queued_write* const next = line_.pop_front();
    if (next == nullptr) break;
    --waiting_;
    operations += next->operations_.size();
    group_.push_back(next);
  }
  return group_;
}

void writer::write(std::span<queued_write* const> batches) noexcept {
  const std::lock_guard lock{writing_};
  patience_.begin(batches);
  write_held(batches);
  patience_.end();
}

void writer::write_held(std::span<queued_write* const> batches) noexcept {
  try {
    const auto ready = make_ready();
    if (ready) {
      write_group_or_each(batches);
      if (connection_) file_.note_trace(*connection_);
      return;
    }
    for (queued_write* const each : batches)
      each->fail_all(ready.error().why, ready.error().message, std::nullopt);
  } catch (const std::bad_alloc&) {
    for (queued_write* const each : batches) each->run_out_of_memory();
    close();  // whatever has begun is rolled back
  }
}

/// Opens the file that is there now.
std::expected<void, writer::fault> writer::make_ready() {
  if (auto settled = settle_held(); !settled)
    return std::unexpected{fault{failure_kind::busy, std::move(settled.error())}};
  if (connection_ && !is_suspect_) return {};
  close();
  auto opened = open();
  if (!opened) return std::unexpected{std::move(opened.error())};
  statements_.emplace();
  connection_.emplace(std::move(*opened));
  file_.note_log(*connection_);
  is_suspect_ = false;
  emptied_from_ = static_cast<int>(options_.checkpoint_pages) * log_growth;
  sqlite3_wal_hook(connection_->get(), &note_log_pages, &log_pages_);
  return {};
}

std::expected<connection, writer::fault> writer::open() {
  auto opened = file_.open(access::read_write);
  if (!opened) return std::unexpected{fault{failure_kind::input_output, std::move(opened.error())}};
  patience_.attach(opened->get());
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
  const write_group::outcome outcome = group.run(batches);
  if (group.has_moved()) return;
  const bool is_locked = kind_of(group.code()) == failure_kind::busy;
  if (!is_locked) patience_.note_free();
  if (outcome != write_group::outcome::undone) commits_.fetch_add(1, std::memory_order_release);
  if (outcome == write_group::outcome::done) {
    if (!is_commit_in_place(batches)) return;
    batches.front()->has_led_commit_ = true;
    for (queued_write* const each : batches) each->settle();
    return;
  }
  is_suspect_ = is_suspect_ || group.is_stuck() || is_of_file(group.code());
  if (outcome == write_group::outcome::unknown) return;
  if (batches.size() == 1) return fail_batch(*batches.front(), group, group.culprit());
  if (is_locked) {  // for each of them
    for (queued_write* const each : batches) fail_batch(*each, group, std::nullopt);
    return;
  }
  // What is too much for one of them need not be for the others.
  for (queued_write* const& each : batches) {
    if (is_suspect_)
      fail_batch(*each, group, std::nullopt);
    else if (!connection_)
      each->is_stale_ = true;  // the one before has found the file gone
    else
      write_group_or_each({&each, 1});
  }
}

/// Nothing of it was done, since the group as a whole could not be.
void writer::fail_batch(queued_write& batch, const write_group& of,
                        std::optional<std::size_t> culprit) const {
  batch.is_stale_ = false;
  batch.fail_all(kind_of(of.code()), of.fault(), culprit);
  batch.settle();
}

/// False: the batches have failed, since what they have written is in a file that nobody is
/// served from any more.
bool writer::is_commit_in_place(std::span<queued_write* const> batches) {
  const file_place place = connection_->look();
  if (place == file_place::in_place) {
    connection_->remember();
    return true;
  }
  // Without its log the file may have it all the same.
  const bool has_file = place == file_place::log_gone || place == file_place::log_replaced;
  if (settle_held() && has_file && !has_forsaken_) return true;
  const std::string message = weft::format(
      "the database {} while the rows were written: {}", to_string(place),
      has_file ? "nobody knows whether they will be in it: read them, and write them again if they "
                 "are missing"
               : "they are not in the one that is there now: write them again");
  for (queued_write* const each : batches) {
    each->is_stale_ = false;
    each->fail_all(has_file ? failure_kind::unknown : failure_kind::input_output, message,
                   std::nullopt);
    each->settle();
  }
  return false;
}

std::expected<void, std::string> writer::settle() {
  const std::lock_guard lock{writing_};
  return settle_held();
}

std::expected<void, std::string> writer::settle_held() {
  has_forsaken_ = false;
  if (!connection_) return {};
  const file_place place = connection_->look();
  if (place == file_place::in_place) return {};
  file_.note(*connection_, place);
  if (is_log_of_another(place) || is_suspect_) {
    forsake(place);
    return {};
  }
  const int code = move_pages(SQLITE_CHECKPOINT_TRUNCATE);
  if (code == SQLITE_OK) {
    connection_->close_without_log();
    close();
  } else if (kind_of(code) == failure_kind::busy) {
    call_to_leave();
    return std::unexpected{weft::format(
        "{}: it {}, and those who still read the former state are waited for: try again",
        std::string_view{file_.path()}.substr(file_.path().rfind('/') + 1), to_string(place))};
  } else {
    forsake(place);
  }
  return {};
}

/// Whether what is in the log must not be put into the file.
bool writer::is_log_of_another(file_place place) noexcept {
  const bool is_overwritten = place == file_place::overwritten || connection_->is_overwritten();
  return place == file_place::log_replaced || (is_overwritten && connection_->has_pages_in_log());
}

std::expected<void, std::string> writer::swap(database_swap& with) {
  const std::lock_guard lock{writing_};
  try {
    auto swapped = swap_held(with);
    if (connection_ && connection_->in_transaction()) close();
    return swapped;
  } catch (const std::bad_alloc&) {
    close();  // with the lock that keeps others from writing
    throw;
  }
}

std::expected<void, std::string> writer::swap_held(database_swap& with) {
  if (auto begun = begin_swap(); !begun) return begun;
  auto renamed = with.rename();
  connection_->roll_back();
  if (!renamed) return renamed;
  connection_->close_without_log();
  close();
  // The new file gets a log of its own before anybody else opens it.
  static_cast<void>(make_ready());
  return {};
}

/// Holds the lock that all writers take, with an empty log.
std::expected<void, std::string> writer::begin_swap() {
  const auto until = std::chrono::steady_clock::now() + swap_patience;
  for (;;) {
    if (auto ready = make_ready(); !ready) return std::unexpected{std::move(ready.error().message)};
    int code = move_pages(SQLITE_CHECKPOINT_TRUNCATE);
    if (code == SQLITE_OK) code = connection_->run("BEGIN IMMEDIATE");
    const bool is_good = code == SQLITE_OK && !connection_->has_pages_in_log() &&
                         connection_->look() == file_place::in_place;
    if (is_good) return {};
    std::string why = code == SQLITE_OK ? std::string{"another program writes to it"}
                                        : connection_->describe(code);
    connection_->roll_back();
    const bool is_busy = code == SQLITE_OK || kind_of(code) == failure_kind::busy;
    if (!is_busy || std::chrono::steady_clock::now() >= until)
      return std::unexpected{weft::format("the former file cannot be let go of: {}", why)};
    call_to_leave();
  }
}

/// What is in the log stays there: it must not be put into what is there now.
void writer::forsake(file_place place) {
  has_forsaken_ = connection_->has_pages_in_log();
  if (has_forsaken_)
    log::error(weft::format("{} {}: what was written last is in its former log alone", file_.path(),
                            to_string(place)));
  connection_->close_without_log();
  is_suspect_ = true;  // no page is moved any more
  close();
  is_suspect_ = false;
}

/// A file that is moved over one with an empty log cannot be mixed with it.
void writer::empty_idle_log() {
  const std::lock_guard lock{writing_};
  if (settle_held() && connection_ && log_pages_ != 0) empty_whole_log();
}

/// Nor can one that is overwritten after the next kill.
void writer::empty_left_log() {
  const std::lock_guard lock{writing_};
  if (make_ready()) empty_whole_log();
}

void writer::empty_whole_log() noexcept {
  const int code = move_pages(SQLITE_CHECKPOINT_TRUNCATE);
  is_suspect_ = is_suspect_ || (code & 0xff) == SQLITE_IOERR;
  if (code == SQLITE_OK) log_pages_ = 0;
}

void writer::checkpoint() noexcept {
  const std::lock_guard lock{writing_};
  if (!connection_ || log_pages_ < static_cast<int>(options_.checkpoint_pages)) return;
  if (log_pages_ >= emptied_from_) return empty_log();
  const int code = move_pages(SQLITE_CHECKPOINT_PASSIVE);
  is_suspect_ = is_suspect_ || (code & 0xff) == SQLITE_IOERR;
}

/// Who begins to read once all pages are moved needs no log, and is in nobody's way: those have to
/// leave who have begun before the first of these moves, and then those from before its end.
void writer::empty_log() noexcept {
  const int wanted = static_cast<int>(options_.checkpoint_pages);
  if (log_pages_ >= wanted * log_growth_max) {
    call_to_leave();
    static_cast<void>(move_pages(SQLITE_CHECKPOINT_FULL));
    call_to_leave();
  }
  const int code = move_pages(SQLITE_CHECKPOINT_TRUNCATE);
  is_suspect_ = is_suspect_ || (code & 0xff) == SQLITE_IOERR;
  if (code == SQLITE_OK) log_pages_ = 0;
  emptied_from_ =
      code == SQLITE_OK ? wanted * log_growth : log_pages_ + wanted * log_growth_between;
}

/// A result code of SQLite's.
int writer::move_pages(int how) noexcept {
  sqlite3* const database = connection_->get();
  sqlite3_busy_timeout(database, wait_for_readers_ms);
  const int code = sqlite3_wal_checkpoint_v2(database, nullptr, how, nullptr, nullptr);
  patience_.attach(database);
  if (connection_->look() == file_place::in_place) connection_->remember();
  file_.note_trace(*connection_);
  return code;
}

void writer::close() noexcept {
  if (connection_ && is_log_of_another(connection_->look()))
    connection_->close_without_log();
  else if (connection_ && !is_suspect_)
    static_cast<void>(move_pages(SQLITE_CHECKPOINT_TRUNCATE));
  statements_.reset();
  connection_.reset();
  log_pages_ = 0;
}

}  // namespace weft::store::sqlite

#include <weft/store/sqlite/file_watch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

namespace weft::store::sqlite {
namespace {

constexpr int index_page_bytes = 32 * 1024;
constexpr std::int64_t quiet_ns = 50'000'000;
// Of the index, in words (sqlite.org/walformat.html, section 2.1).
constexpr std::size_t commits_at = 2;
constexpr std::size_t last_frame_at = 4;
constexpr std::size_t salts_at = 8;
constexpr std::size_t moved_at = 24;
constexpr std::size_t moving_at = 32;
using index_head = std::array<std::uint32_t, moving_at + 1>;

/// What the name of a log, or of its index, stands for.
file_place place_of(const std::string& path, file_identity opened) noexcept {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return file_place::log_gone;
  return identity_in(found) == opened ? file_place::in_place : file_place::log_replaced;
}

file_memory::stamp stamp_of(const struct stat& found) noexcept {
  return {.bytes = found.st_size,
          .seconds = found.st_mtim.tv_sec,
          .nanoseconds = found.st_mtim.tv_nsec};
}

/// A word of the log's index, which others may be writing.
std::optional<std::uint32_t> index_word(sqlite3* of, std::size_t at) noexcept {
  sqlite3_file* const file = open_database(of);
  void volatile* mapped = nullptr;
  if (file == nullptr || file->pMethods->iVersion < 2) return std::nullopt;
  const int code = file->pMethods->xShmMap(file, 0, index_page_bytes, 0, &mapped);
  if (code != SQLITE_OK || mapped == nullptr) return std::nullopt;
  return __atomic_load_n(static_cast<const volatile std::uint32_t*>(mapped) + at, __ATOMIC_ACQUIRE);
}

/// Of an index that nobody here has open.
std::optional<index_head> read_index(const std::string& path) noexcept {
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (opened < 0) return std::nullopt;
  index_head head{};
  const ssize_t got = ::pread(opened, head.data(), sizeof head, 0);
  ::close(opened);
  if (got != static_cast<ssize_t>(sizeof head)) return std::nullopt;
  return head;
}

/// The folder that has the file's name, unless that is a link to a file; empty then. What leads to
/// the folder may be links.
std::string folder_of(const std::string& path, const char* real) {
  const std::string_view found = real != nullptr ? real : "";
  const std::size_t slash = path.rfind('/');
  const std::size_t real_slash = found.rfind('/');
  if (slash == std::string::npos || real_slash == std::string_view::npos) return {};
  if (path.substr(slash) != found.substr(real_slash)) return {};
  std::string folder = path.substr(0, slash);
  const std::string real_folder{found.substr(0, real_slash)};
  struct stat one{};
  struct stat other{};
  const bool is_same = folder == real_folder || (::stat(folder.c_str(), &one) == 0 &&
                                                 ::stat(real_folder.c_str(), &other) == 0 &&
                                                 identity_in(one) == identity_in(other));
  return is_same ? std::move(folder) : std::string{};
}

bool is_moving(const file_memory::log_progress& pages) noexcept { return pages.done < pages.begun; }

}  // namespace

/// Who moves pages first says so in the index, and a log that is begun anew has other salts.
bool was_overwritten_since(const file_trace& then, const std::string& database,
                           const std::string& index) noexcept {
  struct stat now{};
  // First: what is moved meanwhile is in the index by then.
  if (::stat(database.c_str(), &now) != 0 || stamp_of(now) == then.last.seen) return false;
  // To close an index that this process has open would end SQLite's locks of it.
  const auto head = identity_of_index(index) ? std::nullopt : read_index(index);
  if (!head || (*head)[commits_at] < then.commits) return false;
  const file_memory::log_progress progress{.salts = {(*head)[salts_at], (*head)[salts_at + 1]},
                                           .begun = (*head)[moving_at],
                                           .done = (*head)[moved_at]};
  return !is_moving(progress) && progress == then.last.progress;
}

std::string_view to_string(file_place is) noexcept {
  switch (is) {
    case file_place::in_place: return "is in its place";
    case file_place::gone: return "was removed, or cannot be seen any more";
    case file_place::replaced: return "was replaced by another file";
    case file_place::log_gone: return "has lost its log: its -wal or -shm was removed";
    case file_place::log_replaced: return "has another log: its -wal or -shm was replaced";
    case file_place::overwritten: return "was overwritten in place";
  }
  return "is in its place";
}

file_watch::file_watch(sqlite3* opened, const std::string& path)
    : opened_{opened}, path_{path}, knows_files_{has_known_files(opened)} {
  // As SQLite names them, which follows links.
  const char* const real = sqlite3_db_filename(opened, "main");
  log_path_ = std::string{real != nullptr ? real : path.c_str()} + "-wal";
  index_path_ = std::string{real != nullptr ? real : path.c_str()} + "-shm";
  folder_path_ = folder_of(path, real);
  struct stat found{};
  if (knows_files_) {
    database_ = identity_of(open_database(opened));
    descriptor_ = descriptor_of(open_database(opened));
  } else if (::stat(path.c_str(), &found) == 0)
    database_ = identity_in(found);
}

std::optional<file_identity> file_watch::log() const noexcept {
  sqlite3_file* const log = knows_files_ ? open_log(opened_) : nullptr;
  if (log == nullptr) return std::nullopt;
  return identity_of(log);
}

std::optional<file_identity> file_watch::index() const noexcept {
  if (!log()) return std::nullopt;
  return identity_of_index(index_path_);
}

file_place file_watch::look() noexcept {
  if (memory_ != nullptr)
    if (const file_place told = memory_->ended_by.load(std::memory_order_acquire);
        told != file_place::in_place)
      return told;
  struct stat folder{};
  struct stat now{};
  const bool has_folder = !folder_path_.empty() && ::stat(folder_path_.c_str(), &folder) == 0;
  if (has_folder && is_folder_as_it_was(folder) && ::fstat(descriptor_, &now) == 0)
    return is_overwritten(now) ? file_place::overwritten : file_place::in_place;
  folder_.reset();
  const file_place place = look_at_all();
  if (has_folder && place == file_place::in_place) remember_folder(folder);
  return place;
}

/// Each change of a name in it gives a folder another ctime, which nobody can set.
bool file_watch::is_folder_as_it_was(const struct stat& folder) const noexcept {
  return folder_ ==
             folder_state{identity_in(folder), folder.st_ctim.tv_sec, folder.st_ctim.tv_nsec} &&
         log() == log_;
}

/// As it was before all were looked at. What has changed within the last ticks of the file system's
/// clock may change again without another time.
void file_watch::remember_folder(const struct stat& folder) noexcept {
  timespec now{};
  if (descriptor_ < 0 || !log() || ::clock_gettime(CLOCK_REALTIME, &now) != 0) return;
  const std::int64_t age_ns =
      (now.tv_sec - folder.st_ctim.tv_sec) * 1'000'000'000 + (now.tv_nsec - folder.st_ctim.tv_nsec);
  if (age_ns < quiet_ns) return;
  folder_ = {identity_in(folder), folder.st_ctim.tv_sec, folder.st_ctim.tv_nsec};
}

file_place file_watch::look_at_all() noexcept {
  struct stat now{};
  if (::stat(path_.c_str(), &now) != 0) return file_place::gone;
  if (identity_in(now) != database_) return file_place::replaced;
  const auto opened_log = log();
  if (!opened_log) {  // there is no log, or it cannot be known
    stamp_.reset();
    return file_place::in_place;
  }
  // First, since a log must not be put into it then, wherever that is by now.
  if (is_overwritten(now)) return file_place::overwritten;
  if (const file_place place = place_of(log_path_, *opened_log); place != file_place::in_place)
    return place;
  if (!index_ || log_ != *opened_log) index_ = identity_of_index(index_path_);
  log_ = *opened_log;
  return index_ ? place_of(index_path_, *index_) : file_place::in_place;
}

/// Who moves pages says so in the index before the first and after the last of them.
bool file_watch::is_overwritten(const struct stat& now) noexcept {
  const file_memory::stamp seen = stamp_of(now);
  if (stamp_ == seen || memory_ == nullptr) return false;
  const std::lock_guard lock{memory_->mutex};
  std::optional<file_memory::state>& last = memory_->last;
  if (!last || last->seen != seen) {
    const auto progress = read_progress();
    if (!progress) return false;
    if (last && !is_moving(*progress) && last->progress == *progress) return true;
    last = {seen, *progress};
  }
  stamp_ = seen;
  return false;
}

bool file_watch::is_overwritten() noexcept {
  struct stat now{};
  return log() && descriptor_ >= 0 && ::fstat(descriptor_, &now) == 0 && is_overwritten(now);
}

void file_watch::remember() noexcept {
  struct stat now{};
  if (memory_ == nullptr || !log() || ::stat(path_.c_str(), &now) != 0) return;
  const std::lock_guard lock{memory_->mutex};
  // What has changed beside what the caller has done is not to be taken for that.
  if (memory_->last && memory_->last->seen != stamp_of(now)) return;
  if (const auto progress = read_progress()) memory_->last = {stamp_of(now), *progress};
}

std::optional<file_trace> file_watch::trace() const noexcept {
  const auto commits = log() ? index_word(opened_, commits_at) : std::nullopt;
  if (memory_ == nullptr || !commits) return std::nullopt;
  const std::lock_guard lock{memory_->mutex};
  if (!memory_->last) return std::nullopt;
  return file_trace{*memory_->last, *commits};
}

bool file_watch::has_pages_in_log() const noexcept {
  const auto progress = log() ? read_progress() : std::nullopt;
  if (!progress) return false;
  return progress->done < index_word(opened_, last_frame_at).value_or(0);
}

std::optional<file_memory::log_progress> file_watch::read_progress() const noexcept {
  const auto done = index_word(opened_, moved_at);
  if (!done) return std::nullopt;
  const auto word = [this](std::size_t at) { return index_word(opened_, at).value_or(0); };
  return file_memory::log_progress{
      .salts = {word(salts_at), word(salts_at + 1)}, .begun = word(moving_at), .done = *done};
}

}  // namespace weft::store::sqlite

#include <weft/store/sqlite/served_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t logs_max = 8;
constexpr std::chrono::milliseconds closing_patience{1000};
constexpr std::chrono::milliseconds pause{1};

struct found_file {
  file_identity identity;
  std::uint64_t bytes = 0;
};

std::optional<found_file> find_file(const std::string& path) noexcept {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return found_file{identity_in(found), static_cast<std::uint64_t>(found.st_size)};
}

/// Whether a transaction is to be undone by it. SQLite does that to whatever file has the name.
bool is_hot_journal(const std::string& path) noexcept {
  constexpr std::string_view begin =
      "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";  // sqlite.org/fileformat.html
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (opened < 0) return false;
  std::array<char, begin.size()> read{};
  const ssize_t got = ::pread(opened, read.data(), read.size(), 0);
  ::close(opened);
  return got == static_cast<ssize_t>(read.size()) &&
         std::string_view{read.data(), read.size()} == begin;
}

/// As the file system knows it.
file_mark mark_of(const std::string& path) noexcept {
  struct statx found{};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &found) != 0) return {};
  file_mark mark{.inode = found.stx_ino};
  if ((found.stx_mask & STATX_BTIME) != 0)
    mark.born = found.stx_btime.tv_sec * 1'000'000'000 + found.stx_btime.tv_nsec;
  return mark;
}

bool is_same(const file_mark& one, const file_mark& other) noexcept {
  const bool has_births = one.born != 0 && other.born != 0;
  return one.inode == other.inode && (!has_births || one.born == other.born);
}

}  // namespace

served_file::served_file(std::string path, folder_lock& folder, unique_function<void()> changed)
    : path_{std::move(path)},
      folder_{folder},
      changed_{std::move(changed)},
      expected_{folder.owner_of(name())} {}

/// Without its folder.
std::string_view served_file::name() const noexcept {
  return std::string_view{path_}.substr(path_.rfind('/') + 1);
}

std::optional<file_identity> served_file::served() {
  const std::lock_guard lock{mutex_};
  return served_;
}

/// A file that SQLite makes beside the database, which it looks for where a link leads.
std::string served_file::beside(std::string_view ending) const {
  const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path_.c_str(), nullptr),
                                                         &std::free};
  std::string named{real != nullptr ? real.get() : path_.c_str()};
  return named.append(ending);
}

bool served_file::is_known_log(file_identity log) const noexcept {
  return std::ranges::contains(logs_, log);
}

bool served_file::must_settle() {
  {
    const std::lock_guard lock{mutex_};
    if (!served_) return false;
    const auto now = find_file(path_);
    if (!now || now->identity != *served_ || must_reopen_) return true;
    if (logs_.empty()) return false;
    const auto log = find_file(beside("-wal"));
    if (log && is_known_log(log->identity)) return false;
    end_all(log ? file_place::log_replaced : file_place::log_gone);
  }
  changed_();
  return true;
}

void served_file::note_log(const connection& of) noexcept {
  const auto log = of.log();
  if (!log) return;
  const std::lock_guard lock{mutex_};
  if (served_ != of.identity()) return;
  const std::array seen{log, of.index()};
  const auto is_new = [this](const auto& each) { return each && !is_known_log(*each); };
  if (std::ranges::none_of(seen, is_new)) return;
  try {
    logs_.reserve(logs_max);
    folder_.note_owner(name(), {mark_of(path_), mark_of(beside("-wal"))});
  } catch (const std::bad_alloc&) {
    return;  // it is new for the next that has it
  }
  for (const auto& each : seen) {
    if (!is_new(each)) continue;
    if (logs_.size() == logs_max) logs_.erase(logs_.begin());
    logs_.push_back(*each);
  }
  traced_.reset();
}

void served_file::note_trace(const connection& of) noexcept {
  try {
    const std::lock_guard lock{mutex_};
    const auto now = of.trace();
    if (!now || now->last == traced_ || served_ != of.identity()) return;
    folder_.note_trace(name(), *now);
    traced_ = now->last;
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // It is noted after the next commit.
  }
}

bool served_file::take_left_log() {
  const std::lock_guard lock{mutex_};
  return std::exchange(has_left_log_, false);
}

void served_file::note(const connection& of, file_place seen) {
  {
    const std::lock_guard lock{mutex_};
    if (served_ != of.identity() || must_reopen_) return;
    if (seen == file_place::overwritten) spoilt_ = of.log();
    const bool is_same_file = seen == file_place::log_gone || seen == file_place::log_replaced ||
                              seen == file_place::overwritten;
    if (!is_same_file) return;
    end_all(seen);
  }
  log::warning(weft::format("{} {}", path_, to_string(seen)));
  changed_();
}

/// All connections to it are closed before it is opened again.
void served_file::end_all(file_place seen) noexcept {
  must_reopen_ = true;
  uses_->ended_by.store(seen, std::memory_order_release);
}

std::expected<connection, std::string> served_file::open(access how) {
  wait_until_closed();
  std::shared_ptr<file_memory> use;
  bool is_new = false;
  {
    const std::lock_guard lock{mutex_};
    const auto before = served_;
    const bool had_to_reopen = must_reopen_;
    const bool was_denied = is_denied_;
    auto admitted = admit();
    if (!admitted) return std::unexpected{std::move(admitted.error())};
    is_new = before && (before != served_ || had_to_reopen != must_reopen_ || was_denied);
    use = uses_;
  }
  if (is_new) changed_();
  auto opened = connection::open(path_, how);
  if (!opened) return opened;
  opened->count_as(std::move(use));
  const std::lock_guard lock{mutex_};
  if (served_ && opened->identity() != *served_)
    return refuse("it was replaced again meanwhile: try again");
  return opened;
}

/// All of a process that have a file open share its index, so that one of them would keep an old
/// one in use. They were told; this is for the moment that they take.
void served_file::wait_until_closed() {
  for (auto left = closing_patience; left > pause; left -= pause) {
    {
      const std::lock_guard lock{mutex_};
      if (!must_reopen_ || uses_.use_count() == 1) return;
    }
    std::this_thread::sleep_for(pause);
  }
}

/// Whether the file that is there now may be opened by its name, with what lies beside it.
std::expected<void, std::string> served_file::admit() {
  const auto now = find_file(path_);
  if (!now) {  // the opening says why
    is_denied_ = true;
    if (served_) remove_log_and_index();
    return {};
  }
  auto admitted = !served_                    ? admit_first()
                  : *served_ == now->identity ? admit_same(now->bytes)
                                              : take_over();
  set_refused(!admitted);
  is_denied_ = !admitted;
  if (!admitted) return admitted;
  if (served_ != now->identity) uses_ = std::make_shared<file_memory>();
  served_ = now->identity;
  had_content_ = had_content_ || now->bytes > 0;
  return admitted;
}

std::expected<void, std::string> served_file::admit_first() {
  if (!expected_) return {};
  const bool is_its_database = is_same(expected_->database, mark_of(path_));
  if (!is_its_database && is_hot_journal(beside("-journal"))) return refuse_journal();
  const auto log = find_file(beside("-wal"));
  if (!log || log->bytes == 0 || !is_same(expected_->log, mark_of(beside("-wal")))) return {};
  if (!is_its_database)
    return refuse(
        "it is another file than the one that was served when weft was killed, whose rows the log "
        "(-wal) holds: to serve this file, move -wal and -shm away; to serve the former one, put "
        "it back");
  const auto trace = folder_.trace_of(name());
  has_left_log_ = !trace || !was_overwritten_since(*trace, path_, beside("-shm"));
  if (has_left_log_) return {};
  return refuse(
      "it was overwritten in place after weft was killed, while its log (-wal) held rows: to serve "
      "it as it is, remove -wal and -shm; if only its times have changed, stop weft and remove "
      ".weft.lock");
}

std::expected<void, std::string> served_file::admit_same(std::uint64_t bytes) {
  if (bytes == 0 && had_content_)
    return refuse("it is empty now, and was not before: put the database there");
  if (must_reopen_ && uses_.use_count() > 1)
    return refuse("its log has changed, and it is opened anew once all have closed it: try again");
  const auto log = find_file(beside("-wal"));
  if (spoilt_ && log && log->identity == *spoilt_ && log->bytes > 0)
    return refuse(
        "it was overwritten in place while its log (-wal) held rows: to serve it as it is, remove "
        "-wal and -shm; if only its times have changed, stop weft and remove .weft.lock");
  if (must_reopen_) {
    logs_.clear();
    uses_ = std::make_shared<file_memory>();
  }
  must_reopen_ = false;
  spoilt_.reset();
  return {};
}

std::expected<void, std::string> served_file::take_over() {
  const auto log = find_file(beside("-wal"));
  if (log && log->bytes > 0 && is_known_log(log->identity))
    return refuse(
        "it was replaced by another file, and the log (-wal) holds rows of the former one: to "
        "serve the new file, remove -wal and -shm, and next time use `weftd swap`");
  if (is_hot_journal(beside("-journal"))) return refuse_journal();
  remove_log_and_index();
  logs_.clear();
  spoilt_.reset();
  must_reopen_ = false;
  had_content_ = false;
  log::warning(weft::format(
      "{} was replaced by another file, which is served from now on; what was written to the "
      "former one is in it",
      path_));
  return {};
}

/// An empty log of a file that has gone, with its index.
void served_file::remove_log_and_index() {
  const auto log = find_file(beside("-wal"));
  if (log && (log->bytes > 0 || !is_known_log(log->identity))) return;
  // What stays is seen again by the next who opens the file.
  if (log) ::unlink(beside("-wal").c_str());
  const std::string index = beside("-shm");
  if (const auto found = find_file(index); found && is_known_log(found->identity))
    ::unlink(index.c_str());  // as above
}

std::unexpected<std::string> served_file::refuse_journal() const {
  return refuse(
      "it was replaced by another file, and there is a rollback journal (-journal), which may be "
      "the former one's: to serve the new file, move -journal away; to serve the former one, put "
      "it back");
}

std::unexpected<std::string> served_file::refuse(std::string why) const {
  return std::unexpected{weft::format("{}: {}", name(), why)};
}

}  // namespace weft::store::sqlite

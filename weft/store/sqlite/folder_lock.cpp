#include <weft/store/sqlite/folder_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t bytes_max = 1024 * 1024;
constexpr int tries = 10;  // while others come and go

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Another one after each start of the machine; empty: nobody knows.
std::string boot_name() {
  std::string text(64, '\0');
  const int opened = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (opened < 0) return {};
  const ssize_t got = ::pread(opened, text.data(), text.size(), 0);
  ::close(opened);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.substr(0, text.find('\n'));
}

std::string read_all(int descriptor) {
  std::string text(bytes_max, '\0');
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::string_view take_line(std::string_view& text) noexcept {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& line) noexcept {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

template <class Number>
bool read_number(std::string_view word, Number& into) noexcept {
  const auto [end, why] = std::from_chars(word.data(), word.data() + word.size(), into);
  return why == std::errc{} && end == word.data() + word.size();
}

bool read_mark(std::string_view& line, file_mark& into) noexcept {
  return read_number(take_word(line), into.inode) && read_number(take_word(line), into.born);
}

template <class... Number>
bool read_numbers(std::string_view& line, Number&... into) noexcept {
  return (read_number(take_word(line), into) && ...);
}

bool read_file_trace(std::string_view& line, file_trace& into) noexcept {
  auto& [seen, progress] = into.last;
  return read_numbers(line, seen.bytes, seen.seconds, seen.nanoseconds, progress.salts[0],
                      progress.salts[1], progress.begun, progress.done, into.commits);
}

/// The rest of the first line that begins with this word; empty: there is none.
std::string_view find_line(std::string_view text, std::string_view word) noexcept {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (take_word(line) == word) return line;
  }
  return {};
}

std::string describe(const std::string& path, int why) {
  return weft::format("{}: {}", path, std::generic_category().message(why));
}

/// Whether the name still stands for it.
bool is_at(const std::string& path, int descriptor) noexcept {
  struct stat opened{};
  struct stat named{};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

folder_lock::folder_lock(const std::string& folder) : path_{folder + "/.weft.lock"} {
  take();
  if (!is_held()) return;
  boot_ = boot_name();
  read_notes(read_all(descriptor_));
  write(must_last::yes);
}

folder_lock::~folder_lock() {
  if (!is_held()) return;
  // Nobody else takes one that has lost its name.
  if (!is_kept_ && is_at(path_, descriptor_)) ::unlink(path_.c_str());
  ::close(descriptor_);
}

void folder_lock::take() {
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  for (int i = 0; i < tries; ++i) {
    const int opened = ::open(path_.c_str(), flags, S_IRUSR | S_IWUSR);
    struct stat found{};
    if (opened < 0) {
      trouble_ = describe(path_, errno);
      return;
    }
    if (::fstat(opened, &found) != 0 || !S_ISREG(found.st_mode)) {
      trouble_ = weft::format("{}: it is no regular file: take it away", path_);
      ::close(opened);
      return;
    }
    if (::flock(opened, LOCK_EX | LOCK_NB) != 0) {
      const std::string text = read_all(opened);
      trouble_ = weft::format("process {} of host {} serves this folder, too ({})",
                              find_line(text, "process"), find_line(text, "host"), path_);
      ::close(opened);
      return;
    }
    if (is_at(path_, opened)) {
      descriptor_ = opened;
      trouble_.clear();
      return;
    }
    ::close(opened);
  }
  trouble_ = weft::format("{}: others make and remove it all the time", path_);
}

/// Of this host, and of this folder: a copy of it has other files.
void folder_lock::read_notes(std::string_view text) {
  struct stat own{};
  std::uint64_t inode = 0;
  if (::fstat(descriptor_, &own) != 0 || find_line(text, "host") != host_name()) return;
  if (!read_number(find_line(text, "lock"), inode) || inode != own.st_ino) return;
  const bool is_same_boot = !boot_.empty() && find_line(text, "boot") == boot_;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view word = take_word(line);
    if (word == "end") break;  // what is behind it is older
    if (word == "database") read_owner(line);
    if (word == "trace" && is_same_boot) read_trace(line);
  }
  // Until they are opened they are as they were.
  now_ = before_;
}

void folder_lock::read_owner(std::string_view line) {
  log_owner owner;
  const bool is_good = read_mark(line, owner.database) && read_mark(line, owner.log);
  if (is_good) before_.push_back({std::string{line}, owner});
}

void folder_lock::read_trace(std::string_view line) {
  file_trace trace;
  if (!read_file_trace(line, trace)) return;
  const auto of = std::ranges::find(before_, line, &entry::database);
  if (of != before_.end()) of->trace = trace;
}

std::optional<log_owner> folder_lock::owner_of(std::string_view database) const {
  const auto found = std::ranges::find(before_, database, &entry::database);
  if (found == before_.end()) return std::nullopt;
  return found->owner;
}

void folder_lock::note_owner(std::string_view database, log_owner is) {
  if (!is_held() || database.contains('\n')) return;
  const std::lock_guard lock{mutex_};
  const auto known = std::ranges::find(now_, database, &entry::database);
  if (known != now_.end())
    *known = {std::move(known->database), is};
  else
    now_.push_back({std::string{database}, is});
  write(must_last::yes);
}

std::optional<file_trace> folder_lock::trace_of(std::string_view database) const {
  const auto found = std::ranges::find(before_, database, &entry::database);
  if (found == before_.end()) return std::nullopt;
  return found->trace;
}

void folder_lock::note_trace(std::string_view database, const file_trace& is) {
  if (!is_held()) return;
  const std::lock_guard lock{mutex_};
  const auto known = std::ranges::find(now_, database, &entry::database);
  if (known == now_.end()) return;
  known->trace = is;
  write(must_last::no);
}

/// Owners come first: where they are does not change with what is noted more often. The system
/// has all of it even if this program is killed now.
void folder_lock::write(must_last how) const {
  struct stat own{};
  if (::fstat(descriptor_, &own) != 0) return;
  std::string text = weft::format("process {}\nhost {}\nlock {}\n", ::getpid(), host_name(),
                                  std::uint64_t{own.st_ino});
  for (const entry& each : now_)
    text += weft::format("database {} {} {} {} {}\n", each.owner.database.inode,
                         each.owner.database.born, each.owner.log.inode, each.owner.log.born,
                         each.database);
  text += weft::format("boot {}\n", boot_);
  for (const entry& each : now_)
    if (each.trace) {
      const auto& [seen, progress] = each.trace->last;
      text += weft::format("trace {} {} {} {} {} {} {} {} {}\n", seen.bytes, seen.seconds,
                           seen.nanoseconds, progress.salts[0], progress.salts[1], progress.begun,
                           progress.done, each.trace->commits, each.database);
    }
  text += "end\n";
  const bool is_written =
      ::pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
      ::ftruncate(descriptor_, static_cast<off_t>(text.size())) == 0 &&
      (how == must_last::no || ::fdatasync(descriptor_) == 0);
  if (!is_written)
    log::warning(
        weft::format("{}: a log that is left when this program is killed will not be told "
                     "from that of another file",
                     describe(path_, errno)));
}

}  // namespace weft::store::sqlite

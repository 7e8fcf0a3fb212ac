#include <weft/store/sqlite/database_swap.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/store/sqlite/library.hpp>

namespace weft::store::sqlite {
namespace {

namespace files = std::filesystem;

constexpr int instructions_between_looks = 20'000;
constexpr int faults_told = 5;
constexpr int names_tried = 100;

std::string real_path(const std::string& path) {
  std::error_code why;
  const files::path real = files::canonical(path, why);
  return why ? path : real.string();
}

/// "20261126T153000Z".
std::string now_text() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);  // fails beyond the year 2^31
  return weft::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                      parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

bool sync_path(const std::string& path, int flags) noexcept {
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
  if (opened < 0) return false;
  // Some file systems know no such thing of a folder.
  const bool is_synced = ::fsync(opened) == 0 || errno == EINVAL;
  const int why = errno;
  ::close(opened);
  errno = why;
  return is_synced;
}

}  // namespace

database_swap::database_swap(std::string file, const std::string& in_place_of)
    : file_{std::move(file)}, target_{real_path(in_place_of)} {}

std::unexpected<std::string> database_swap::refuse(const std::string& why) const {
  return std::unexpected{weft::format("{}: {}", file_, why)};
}

std::unexpected<std::string> database_swap::refuse_errno(const std::string& what) const {
  return refuse(weft::format("{}: {}", what, std::generic_category().message(errno)));
}

std::expected<void, std::string> database_swap::check_file() const {
  struct stat found{};
  struct stat served{};
  if (::lstat(file_.c_str(), &found) != 0) return refuse_errno("it cannot be seen");
  if (!S_ISREG(found.st_mode)) return refuse("it is no regular file: name the database itself");
  if (found.st_size == 0) return refuse("it is empty: put a SQLite database there");
  if (::stat(target_.c_str(), &served) != 0)
    return refuse(
        weft::format("{} cannot be seen: {}", target_, std::generic_category().message(errno)));
  if (found.st_dev != served.st_dev)
    return refuse(
        weft::format("it is on another file system than {}: copy it there first", target_));
  if (found.st_ino == served.st_ino) return refuse("it is the file that is served");
  return {};
}

int database_swap::ask_whether_to_end(void* self) {
  return static_cast<database_swap*>(self)->is_stopped_.load(std::memory_order_relaxed) ? 1 : 0;
}

std::expected<void, std::string> database_swap::check_content(connection& of) {
  sqlite3_progress_handler(of.get(), instructions_between_looks, &ask_whether_to_end, this);
  const statement check = of.prepare(weft::format("PRAGMA integrity_check({})", faults_told));
  if (check == nullptr) return std::unexpected{of.describe(sqlite3_extended_errcode(of.get()))};
  std::string faults;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(check.get())) == SQLITE_ROW)
    faults += weft::format("{}{}", faults.empty() ? "" : "; ",
                           reinterpret_cast<const char*>(sqlite3_column_text(check.get(), 0)));
  if (code == SQLITE_INTERRUPT) return refuse("the swap was given up");
  if (code != SQLITE_DONE) return std::unexpected{of.describe(code)};
  if (faults != "ok") return refuse(weft::format("it is damaged: {}", faults));
  return {};
}

std::expected<database_schema, std::string> database_swap::prepare(const std::string& database) {
  prepare_library();
  if (auto checked = check_file(); !checked) return std::unexpected{std::move(checked.error())};
  struct stat found{};
  std::expected<database_schema, schema_fault> schema;
  {
    auto opened = connection::open(file_, access::read_write);
    if (!opened) return std::unexpected{std::move(opened.error())};
    if (auto checked = check_content(*opened); !checked)
      return std::unexpected{std::move(checked.error())};
    schema = read_schema(*opened, database);
    sqlite3_progress_handler(opened->get(), 0, nullptr, nullptr);
    if (!schema) return std::unexpected{std::move(schema.error().message)};
  }  // what a log had is in it now, and the log has gone
  for (const char* const ending : {"-wal", "-journal"})
    if (::stat((file_ + ending).c_str(), &found) == 0)
      return refuse(weft::format(
          "another program has it open, for there is {}{}: close it there first", file_, ending));
  if (auto synced = sync(); !synced) return std::unexpected{std::move(synced.error())};
  return std::move(*schema);
}

std::expected<void, std::string> database_swap::sync() const {
  if (!sync_path(file_, 0)) return refuse_errno("it cannot be brought to the disk");
  return {};
}

std::expected<void, std::string> database_swap::rename() {
  // Once more, since it may have gone while it waited for its turn.
  if (auto checked = check_file(); !checked) return checked;
  const std::string first = weft::format("{}.{}", target_, now_text());
  kept_ = first;
  int tried = 1;
  while (::link(target_.c_str(), kept_.c_str()) != 0) {
    if (errno != EEXIST || tried == names_tried)
      return refuse_errno(weft::format("{} cannot be kept as {}", target_, kept_));
    kept_ = weft::format("{}.{}", first, tried++);
  }
  if (::rename(file_.c_str(), target_.c_str()) != 0) {
    const int why = errno;
    ::unlink(kept_.c_str());  // what stays is a second name of the file
    errno = why;
    return refuse_errno(weft::format("it cannot be renamed to {}", target_));
  }
  const std::string folder = files::path{target_}.parent_path().string();
  if (!sync_path(folder, O_DIRECTORY))
    log::warning(weft::format("{}: {}: after a power cut the former file may be there again",
                              folder, std::generic_category().message(errno)));
  return {};
}

}  // namespace weft::store::sqlite

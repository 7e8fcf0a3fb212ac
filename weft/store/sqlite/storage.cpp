#include <weft/store/sqlite/storage.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>

#include <weft/base/format.hpp>
#include <weft/base/hash_map.hpp>
#include <weft/store/sqlite/bounded_functions.hpp>

namespace weft::store::sqlite {
namespace {

namespace files = std::filesystem;

constexpr std::string_view extension = ".db";

struct open_folders {
  std::mutex mutex;
  hash_map<std::string, std::weak_ptr<storage>> by_path;
};

open_folders& all_open() {
  static open_folders all;
  return all;
}

bool is_database_name(std::string_view name) noexcept {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos;
}

std::string describe_folder(const std::string& folder, const std::error_code& why) {
  return weft::format("\"{}\": {}: name a folder that this program may read", folder,
                      why.message());
}

}  // namespace

std::vector<option_fault> engine_options::faults() const {
  if (directory.empty()) return {};
  std::vector<option_fault> found;
  if (!query_program.empty() && ::access(query_program.c_str(), X_OK) != 0)
    found.push_back(
        {"query_program",
         weft::format("\"{}\": {}: name a program that runs queries, or leave it empty: "
                      "they run in this process then, and may take long to be stopped",
                      query_program, std::system_category().message(errno))});
  std::error_code why;
  const files::directory_iterator readable{directory, why};
  if (why && (why != std::errc::no_such_file_or_directory || create.empty()))
    found.push_back({"directory", describe_folder(directory, why)});
  return found;
}

std::expected<std::shared_ptr<storage>, std::string> storage::open(const engine_options& options) {
  std::error_code why;
  if (!options.create.empty()) files::create_directories(options.directory, why);
  const files::path real = files::canonical(options.directory, why);
  if (why) return std::unexpected{describe_folder(options.directory, why)};
  open_folders& all = all_open();
  const std::lock_guard lock{all.mutex};
  std::weak_ptr<storage>& known = all.by_path[real.string()];
  std::shared_ptr<storage> opened = known.lock();
  if (opened == nullptr) {
    opened = std::shared_ptr<storage>{new storage{real.string(), options}};
    known = opened;
  }
  for (const std::string& each : options.create)
    if (std::string fault = opened->create(each); !fault.empty())
      return std::unexpected{std::move(fault)};
  return opened;
}

std::string storage::path_of(std::string_view database) const {
  return weft::format("{}/{}{}", directory_, database, extension);
}

std::string storage::create(const std::string& database) const {
  if (!is_database_name(database))
    return weft::format("\"{}\" is no name for a database: it is that of a file, without a folder",
                        database);
  const std::string path = path_of(database);
  if (identify(path)) return {};
  auto made = connection::open(path, access::create);
  if (!made) return std::move(made.error());
  const int code = made->run("PRAGMA journal_mode=WAL");
  return code == SQLITE_OK ? std::string{} : made->describe(code);
}

std::expected<std::vector<std::string>, std::string> storage::database_names() const {
  std::vector<std::string> names;
  std::error_code why;
  for (files::directory_iterator at{directory_, why}, end; !why && at != end; at.increment(why)) {
    const files::path& file = at->path();
    if (file.extension() == extension && is_database_name(file.filename().string()))
      names.push_back(file.stem().string());
  }
  if (why) return std::unexpected{describe_folder(directory_, why)};
  std::ranges::sort(names);
  return names;
}

std::expected<storage::lease, std::string> storage::reader(std::string_view database) {
  const std::string path = path_of(database);
  const auto identity = identify(path);
  std::optional<connection> idle;
  {
    const std::lock_guard lock{mutex_};
    // One of a file that has been replaced since is of no use any more.
    if (identity)
      std::erase_if(idle_readers_, [&](const connection& each) {
        return each.path() == path && each.identity() != *identity;
      });
    const auto found = std::ranges::find(idle_readers_, path, &connection::path);
    if (found != idle_readers_.end()) {
      idle.emplace(std::move(*found));
      idle_readers_.erase(found);
    }
  }
  if (!idle) {
    auto opened = connection::open(path, access::read_only);
    if (!opened) return std::unexpected{std::move(opened.error())};
    idle.emplace(std::move(*opened));
    if (const int code = add_bounded_functions(*idle); code != SQLITE_OK)
      return std::unexpected{idle->describe(code)};
  }
  sqlite3_busy_timeout(idle->get(), 0);
  roll_back_others(*idle);
  // Another program may be recovering the database, or writing where there is no WAL.
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options_.busy_timeout);
  sqlite3_busy_timeout(idle->get(), static_cast<int>(timeout.count()));
  return lease{*this, std::move(*idle)};
}

/// Where there is no WAL, a program that ended in the midst of a commit has left a journal, and
/// nobody reads before one who may write has rolled it back. What fails is told by who reads.
void storage::roll_back_others(connection& reader) {
  if (!identify(reader.path() + "-journal")) return;
  const auto read = reader.number("PRAGMA schema_version");
  if (read || read.error() != SQLITE_READONLY_ROLLBACK) return;
  if (auto other = connection::open(reader.path(), access::read_write))
    static_cast<void>(other->number("PRAGMA schema_version"));
}

writer& storage::writer_of(std::string_view database) {
  std::string path = path_of(database);
  const std::lock_guard lock{mutex_};
  const auto known = std::ranges::find_if(
      writers_, [&](const std::unique_ptr<writer>& each) { return each->path() == path; });
  if (known != writers_.end()) return **known;
  return *writers_.emplace_back(std::make_unique<writer>(std::move(path), options_, commits_));
}

std::size_t storage::writes_waiting() {
  const std::lock_guard lock{mutex_};
  std::size_t waiting = 0;
  for (const auto& each : writers_) waiting += each->waiting();
  return waiting;
}

void storage::take_back(connection lent) noexcept {
  const std::lock_guard lock{mutex_};
  if (idle_readers_.size() < idle_readers_max) idle_readers_.push_back(std::move(lent));
}

}  // namespace weft::store::sqlite

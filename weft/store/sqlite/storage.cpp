#include <weft/store/sqlite/storage.hpp>

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>

#include <weft/base/format.hpp>
#include <weft/base/hash_map.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/event.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/store/schema_difference.hpp>
#include <weft/store/sqlite/bounded_functions.hpp>
#include <weft/store/sqlite/database_swap.hpp>

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

struct close_folder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};
using open_folder = std::unique_ptr<DIR, close_folder>;

std::error_code last_error() noexcept { return {errno, std::system_category()}; }

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
  const open_folder readable{::opendir(directory.c_str())};
  const std::error_code why = readable == nullptr ? last_error() : std::error_code{};
  if (why && (why != std::errc::no_such_file_or_directory || create.empty()))
    found.push_back({"directory", describe_folder(directory, why)});
  return found;
}

std::expected<std::shared_ptr<storage>, std::string> storage::open(const engine_options& options,
                                                                   takes_lock how) {
  std::error_code why;
  if (!options.create.empty()) files::create_directories(options.directory, why);
  const files::path real = files::canonical(options.directory, why);
  if (why) return std::unexpected{describe_folder(options.directory, why)};
  files::path named = files::absolute(options.directory, why);
  if (why) return std::unexpected{describe_folder(options.directory, why)};
  if (!named.has_filename()) named = named.parent_path();  // it ends with a slash
  open_folders& all = all_open();
  const std::lock_guard lock{all.mutex};
  std::weak_ptr<storage>& known = all.by_path[real.string()];
  std::shared_ptr<storage> opened = known.lock();
  if (opened == nullptr) {
    opened = std::shared_ptr<storage>{new storage{named.string(), real.string(), options, how}};
    known = opened;
    if (const std::string& trouble = opened->lock_.trouble(); !trouble.empty()) log::info(trouble);
  }
  for (const std::string& each : options.create)
    if (std::string fault = opened->create(each); !fault.empty())
      return std::unexpected{std::move(fault)};
  return opened;
}

std::string storage::path_of(std::string_view database) const {
  return weft::format("{}/{}{}", directory_, database, extension);
}

bool storage::has_file(std::string_view database) const {
  const auto found = identify(path_of(database));
  return found || found.error() != ENOENT;
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

/// Not by std::filesystem::directory_iterator: libstdc++'s ends the process if there is no memory.
std::expected<std::vector<std::string>, std::string> storage::database_names() const {
  const open_folder folder{::opendir(directory_.c_str())};
  if (folder == nullptr) return std::unexpected{describe_folder(directory_, last_error())};
  std::vector<std::string> names;
  for (errno = 0; const dirent* const at = ::readdir(folder.get()); errno = 0) {
    std::string_view name = at->d_name;
    if (!name.ends_with(extension)) continue;
    name.remove_suffix(extension.size());
    if (is_database_name(name)) names.emplace_back(name);
  }
  if (errno != 0) return std::unexpected{describe_folder(directory_, last_error())};
  std::ranges::sort(names);
  return names;
}

storage::~storage() {
  idle_readers_.clear();
  // The last to close it, who may write, leaves no log behind.
  for (const auto& each : databases_) {
    each->by.end(lock_.is_held());
    // Whose the log is that is left, who comes next has to know.
    if (each->file.is_refused()) lock_.keep();
  }
}

std::optional<connection> storage::take_idle(const std::string& path) {
  const std::lock_guard lock{mutex_};
  const auto found = std::ranges::find(idle_readers_, path, &connection::path);
  if (found == idle_readers_.end()) return std::nullopt;
  std::optional<connection> idle{std::move(*found)};
  idle_readers_.erase(found);
  return idle;
}

void storage::drop_idle(const std::string& path) {
  std::vector<connection> dropped;
  const std::lock_guard lock{mutex_};
  const auto rest = std::ranges::stable_partition(
      idle_readers_, [&](const connection& each) { return each.path() != path; });
  std::ranges::move(rest, std::back_inserter(dropped));
  idle_readers_.erase(rest.begin(), rest.end());
}

std::expected<void, std::string> storage::refuse_twin(database_files& of) {
  const auto file = identify(of.file.path());
  if (!file) return {};  // the opening says why
  std::vector<const database_files*> others;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& each : databases_)
      if (each.get() != &of && !each->file.is_refused()) others.push_back(each.get());
  }
  std::error_code unknown;
  for (const database_files* const each : others) {
    const std::string& path = each->file.path();
    if (identify(path) != file ||
        files::canonical(path, unknown) == files::canonical(of.file.path(), unknown))
      continue;
    of.file.set_refused(true);
    const auto name = [](const std::string& of_path) {
      return std::string_view{of_path}.substr(of_path.rfind('/') + 1);
    };
    return std::unexpected{weft::format(
        "{}: it is the same file as {}, by a second name (a hard link), and SQLite would keep a "
        "log for each: remove one of the names",
        name(of.file.path()), name(path))};
  }
  return {};
}

std::expected<connection, std::string> storage::open(std::string_view database) {
  database_files& of = files_of(database);
  if (auto alone = refuse_twin(of); !alone) return std::unexpected{std::move(alone.error())};
  if (of.file.must_settle()) {
    drop_idle(of.file.path());
    if (auto settled = of.by.settle(); !settled) {
      of.file.set_refused(true);
      return std::unexpected{std::move(settled.error())};
    }
  }
  auto opened = of.file.open(access::read_only);
  if (opened && of.file.take_left_log()) of.by.empty_left_log();
  return opened;
}

bool storage::lease::is_in_place() {
  const file_place place = lent_.look();
  if (place != file_place::in_place) from_->note(lent_, place);
  return place == file_place::in_place;
}

std::expected<storage::lease, std::string> storage::reader(std::string_view database) {
  std::optional<connection> idle = take_idle(path_of(database));
  // One of a file that has changed since is of no use any more.
  if (idle)
    if (const file_place place = idle->look(); place != file_place::in_place) {
      note(*idle, place);
      idle.reset();
    }
  const bool is_new = !idle;
  if (is_new) {
    auto opened = open(database);
    if (!opened) return std::unexpected{std::move(opened.error())};
    idle.emplace(std::move(*opened));
    if (const int code = add_bounded_functions(*idle); code != SQLITE_OK)
      return std::unexpected{idle->describe(code)};
  }
  sqlite3_busy_timeout(idle->get(), 0);
  // For this, too, the schema is read. What is wrong with the file is said by who reads rows.
  if (is_new) std::ignore = idle->run("PRAGMA cache_size=-512");
  roll_back_others(*idle);
  // Another program may be recovering the database, or writing where there is no WAL.
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options_.busy_timeout);
  sqlite3_busy_timeout(idle->get(), static_cast<int>(timeout.count()));
  return lease{*this, std::move(*idle)};
}

void storage::note(const connection& of, file_place seen) {
  database_files* known = nullptr;
  {
    const std::lock_guard lock{mutex_};
    known = find_files(of.path());  // which stays
  }
  if (known == nullptr) return;
  known->file.note(of, seen);
  drop_idle(of.path());
}

void storage::set_refused(std::string_view database, bool is) {
  files_of(database).file.set_unreadable(is);
}

bool storage::is_refused(std::string_view database) {
  return files_of(database).file.is_unreadable();
}

std::size_t storage::refused() const noexcept {
  const std::lock_guard lock{mutex_};
  return static_cast<std::size_t>(
      std::ranges::count_if(databases_, [](const auto& each) { return each->file.is_refused(); }));
}

void storage::let_go(std::string_view database) {
  database_files& of = files_of(database);
  of.file.set_refused(false);
  of.file.set_unreadable(false);
  drop_idle(of.file.path());
  static_cast<void>(of.by.settle());
}

std::expected<file_swap, std::string> storage::swap(const swap_request& request,
                                                    std::span<const table_definition> before,
                                                    database_swap& with) {
  const files::path given{request.file};
  std::error_code why;
  const bool is_served = given.extension() == extension &&
                         files::equivalent(given.parent_path(), directory_, why) && !why;
  if (is_served)
    return std::unexpected{
        weft::format("{}: it is served itself, as the database {}: name it otherwise, without {}",
                     request.file, given.stem().string(), extension)};
  auto schema = with.prepare(request.database);
  if (!schema) return std::unexpected{std::move(schema.error())};
  file_swap made{.kept = {}, .differences = schema_differences(before, schema->tables)};
  if (request.keeps_schema && !made.differences.empty())
    return std::unexpected{
        weft::format("{}: its schema is another: {}", request.file, made.differences.front())};
  if (auto swapped = files_of(request.database).by.swap(with); !swapped)
    return std::unexpected{std::move(swapped.error())};
  made.kept = with.kept();
  return made;
}

void storage::tell_of_changes(event_loop& on, std::weak_ptr<event> woken) {
  const std::lock_guard lock{mutex_};
  listeners_.push_back({&on, std::move(woken)});
}

void storage::stop_telling(const event_loop& on) noexcept {
  const std::lock_guard lock{mutex_};
  std::erase_if(listeners_, [&](const listener& each) { return each.on == &on; });
}

/// Where there is no WAL, a program that ended in the midst of a commit has left a journal, and
/// nobody reads before one who may write has rolled it back. What fails is told by who reads.
void storage::roll_back_others(connection& reader) {
  if (!identify(reader.path() + "-journal")) return;
  const auto read = reader.number("PRAGMA schema_version");
  if (read || read.error() != SQLITE_READONLY_ROLLBACK) return;
  auto other = connection::open(reader.path(), access::read_write);
  // Another file that has the name by now is none of the journal's.
  if (other && other->identity() == reader.identity())
    static_cast<void>(other->number("PRAGMA schema_version"));
}

storage::database_files* storage::find_files(std::string_view path) {
  const auto known =
      std::ranges::find_if(databases_, [&](const auto& each) { return each->file.path() == path; });
  return known != databases_.end() ? known->get() : nullptr;
}

storage::database_files& storage::files_of(std::string_view database) {
  std::string path = path_of(database);
  const std::lock_guard lock{mutex_};
  if (database_files* const known = find_files(path)) return *known;
  return *databases_.emplace_back(std::make_unique<database_files>(std::move(path), *this));
}

writer& storage::writer_of(std::string_view database) { return files_of(database).by; }

std::size_t storage::writes_waiting() {
  const std::lock_guard lock{mutex_};
  std::size_t waiting = 0;
  for (const auto& each : databases_) waiting += each->by.waiting();
  return waiting;
}

void storage::take_back(connection lent) noexcept {
  if (!lent.is_reusable()) return;
  database_files* known = nullptr;
  {
    const std::lock_guard lock{mutex_};
    known = find_files(lent.path());  // which stays
  }
  if (known != nullptr) known->file.note_log(lent);
  // One that is kept would keep others from opening the file anew.
  if (lent.look() != file_place::in_place) return;
  // The system's page cache has them for the next, which waits for another row anyway.
  sqlite3_db_release_memory(lent.get());
  const std::lock_guard lock{mutex_};
  if (idle_readers_.size() < idle_readers_max) idle_readers_.push_back(std::move(lent));
}

void storage::tell_change(database_files& of) {
  of.by.call_to_leave();
  drop_idle(of.file.path());
  const std::lock_guard lock{mutex_};
  // A mailbox that is full has them look at the next interval.
  for (const listener& each : listeners_)
    static_cast<void>(each.on->post([woken = each.woken] {
      if (const auto there = woken.lock()) there->set();
    }));
}

}  // namespace weft::store::sqlite

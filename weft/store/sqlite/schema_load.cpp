#include <weft/store/sqlite/schema_load.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <expected>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/store/sqlite/schema_reader.hpp>

namespace weft::store::sqlite {
namespace {

const known_database* find_known(std::span<const known_database> known, const std::string& name) {
  const auto found = std::ranges::find(known, name, &known_database::name);
  return found == known.end() ? nullptr : &*found;
}

/// Why a database cannot be served now.
schema_fault cannot_open(std::string why) { return {failure_kind::input_output, std::move(why)}; }

std::expected<connection, schema_fault> open_for_shard(storage& from, const std::string& name,
                                                       std::uint64_t cache_bytes) {
  auto opened = from.open(name);
  if (!opened) return std::unexpected{cannot_open(std::move(opened.error()))};
  const std::string sizes = weft::format("PRAGMA cache_size=-{};PRAGMA mmap_size=0",
                                         std::max<std::uint64_t>(cache_bytes / 1024, 64));
  // Its schema is read here, and not by the shard.
  const bool is_good = opened->run(sizes.c_str()) == SQLITE_OK &&
                       opened->run("SELECT 1 FROM sqlite_schema LIMIT 1") == SQLITE_OK;
  const int code = sqlite3_extended_errcode(opened->get());
  if (!is_good) return std::unexpected{schema_fault{kind_of(code), opened->describe(code)}};
  if (const file_place place = opened->look(); place != file_place::in_place)
    return std::unexpected{
        cannot_open(weft::format("it {} meanwhile: it is opened again", to_string(place)))};
  return std::move(*opened);
}

/// Whether the shard has this file, with this schema.
bool is_as_known(storage& from, const known_database& known) {
  const auto identity = identify(from.path_of(known.name));
  if (known.is_suspect || !identity || *identity != known.identity) return false;
  auto by = from.reader(known.name);
  if (!by) return false;
  sqlite3_busy_timeout((*by)->get(), 0);
  const auto version = (*by)->number("PRAGMA schema_version");
  // Another program that holds it is no reason to take it away from those who read it later, nor to
  // wait.
  return version ? *version == known.version : kind_of(version.error()) == failure_kind::busy;
}

/// What was served is not forgotten while it cannot be read: requests report the cause.
loaded_database refuse(storage& from, const known_database& known) {
  from.set_refused(known.name, true);
  return {.name = known.name, .version = known.version, .is_kept = true, .is_refused = true};
}

/// Whether any was not refused before.
bool refuse_all(storage& from, std::span<const known_database> known,
                std::vector<loaded_database>& into) {
  for (const known_database& each : known) into.push_back(refuse(from, each));
  return std::ranges::any_of(
      known, [](const known_database& each) { return each.identity != file_identity{}; });
}

/// A lock of another program is waited for until then.
class lock_wait {
 public:
  explicit lock_wait(duration most) noexcept : until_{std::chrono::steady_clock::now() + most} {}
  [[nodiscard]] int left_ms() const noexcept {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }

 private:
  std::chrono::steady_clock::time_point until_;
};

class folder_load {
 public:
  folder_load(storage& from, const known_folder& known, std::size_t databases) noexcept
      : from_{from},
        known_{known},
        cache_bytes_{known.cache_bytes / std::max<std::size_t>(databases, 1)},
        wait_{from.busy_timeout()} {}

  void add(const std::string& name, loaded& to) {
    const known_database* const before = find_known(known_.databases, name);
    auto one = load(name, before);
    if (one) {
      if (!one->is_kept) {
        to.has_changed = true;
        from_.set_refused(name, false);
      }
      to.databases.push_back(std::move(*one));
      return;
    }
    schema_fault& why = one.error();
    if (why.why == failure_kind::busy)
      why.message = weft::format(
          "{}.db: another program has locked it: it is served once the lock is gone", name);
    to.complaints.push_back(weft::format("{}: {}", from_.path_of(name), why.message));
    if (before == nullptr) {
      from_.set_refused(name, true);
      return to.refused.push_back({name, why.why, std::move(why.message)});
    }
    to.has_changed = true;
    to.databases.push_back(refuse(from_, *before));
  }

 private:
  std::expected<loaded_database, schema_fault> load(const std::string& name,
                                                    const known_database* known) {
    if (known != nullptr && is_as_known(from_, *known))
      return loaded_database{.name = name, .version = known->version, .is_kept = true};
    auto by = from_.reader(name);
    if (!by) return std::unexpected{cannot_open(std::move(by.error()))};
    sqlite3_busy_timeout((*by)->get(), from_.is_refused(name) ? 0 : wait_.left_ms());
    auto schema = read_schema(**by, name);
    if (!schema) return std::unexpected{std::move(schema.error())};
    loaded_database made{
        .name = name, .version = schema->version, .tables = std::move(schema->tables)};
    if (known != nullptr && !known->is_suspect && known->identity == (*by)->identity()) return made;
    auto opened = open_for_shard(from_, name, cache_bytes_);
    if (!opened) return std::unexpected{std::move(opened.error())};
    made.opened.emplace(std::move(*opened));
    return made;
  }

  storage& from_;
  const known_folder& known_;
  std::uint64_t cache_bytes_;
  lock_wait wait_;
};

/// Those that were there, and are no more.
void let_go_of_missing(storage& from, const known_folder& known,
                       std::span<const std::string> names) {
  for (const known_database& each : known.databases)
    if (!std::ranges::contains(names, each.name)) from.let_go(each.name);
  for (const catalog::refused_database& each : known.refused)
    if (!std::ranges::contains(names, each.name)) from.let_go(each.name);
}

}  // namespace

loaded load_databases(storage& from, const known_folder& known) {
  loaded made;
  const auto names = from.database_names();
  if (!names) {
    made.complaints.push_back(names.error());
    made.refused.assign(known.refused.begin(), known.refused.end());
    made.has_changed = refuse_all(from, known.databases, made.databases);
    return made;
  }
  let_go_of_missing(from, known, *names);
  folder_load load{from, known, names->size()};
  for (const std::string& name : *names) load.add(name, made);
  made.has_changed = made.has_changed || made.databases.size() != known.databases.size() ||
                     !std::ranges::equal(made.refused, known.refused);
  return made;
}

}  // namespace weft::store::sqlite

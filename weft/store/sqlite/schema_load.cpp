#include <weft/store/sqlite/schema_load.hpp>

#include <algorithm>
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

std::expected<connection, std::string> open_for_shard(storage& from, const std::string& name,
                                                      std::uint64_t cache_bytes) {
  auto opened = from.open(name);
  if (!opened) return opened;
  const std::string sizes = weft::format("PRAGMA cache_size=-{};PRAGMA mmap_size=0",
                                         std::max<std::uint64_t>(cache_bytes / 1024, 64));
  // Its schema is read here, and not by the shard.
  const bool is_good = opened->run(sizes.c_str()) == SQLITE_OK &&
                       opened->run("SELECT 1 FROM sqlite_schema LIMIT 1") == SQLITE_OK;
  if (!is_good) return std::unexpected{opened->describe(sqlite3_extended_errcode(opened->get()))};
  if (const file_place place = opened->look(); place != file_place::in_place)
    return std::unexpected{weft::format("it {} meanwhile: it is opened again", to_string(place))};
  return opened;
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

bool is_all_known(storage& from, std::span<const known_database> known,
                  std::span<const std::string> names) {
  return std::ranges::equal(known, names, {}, &known_database::name) &&
         std::ranges::all_of(known,
                             [&](const known_database& each) { return is_as_known(from, each); });
}

std::expected<loaded_database, std::string> load(storage& from, const std::string& name,
                                                 const known_database* known,
                                                 std::uint64_t cache_bytes) {
  if (known != nullptr && is_as_known(from, *known))
    return loaded_database{.name = name, .version = known->version, .is_kept = true};
  auto by = from.reader(name);
  if (!by) return std::unexpected{std::move(by.error())};
  auto schema = read_schema(**by, name);
  if (!schema) return std::unexpected{std::move(schema.error())};
  loaded_database made{
      .name = name, .version = schema->version, .tables = std::move(schema->tables)};
  if (known != nullptr && !known->is_suspect && known->identity == (*by)->identity()) return made;
  auto opened = open_for_shard(from, name, cache_bytes);
  if (!opened) return std::unexpected{std::move(opened.error())};
  made.opened.emplace(std::move(*opened));
  return made;
}

/// What was served is not forgotten while it cannot be read: whoever asks is told why.
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

}  // namespace

loaded load_databases(storage& from, std::span<const known_database> known,
                      std::uint64_t cache_bytes) {
  loaded made;
  auto names = from.database_names();
  if (!names) {
    made.complaints.push_back(std::move(names.error()));
    made.has_changed = refuse_all(from, known, made.databases);
    return made;
  }
  for (const known_database& each : known)
    if (!std::ranges::contains(*names, each.name)) from.let_go(each.name);
  if (is_all_known(from, known, *names)) return made;
  made.has_changed = true;
  for (const std::string& name : *names) {
    const known_database* const before = find_known(known, name);
    auto one = load(from, name, before, cache_bytes / names->size());
    if (one) {
      from.set_refused(name, false);
      made.databases.push_back(std::move(*one));
      continue;
    }
    made.complaints.push_back(weft::format("{}: {}", from.path_of(name), one.error()));
    if (before != nullptr) made.databases.push_back(refuse(from, *before));
  }
  return made;
}

}  // namespace weft::store::sqlite

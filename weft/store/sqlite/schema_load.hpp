// What has become of the folder since a shard looked last.
//
// Contract: load_databases() compares the files with what the shard knows and, if anything is new,
// gives all that the shard needs to go on: the databases with their tables, and connections for
// those whose file is new or suspect. A database that cannot be read is refused, with the cause,
// and a line for people; one that the shard has keeps its tables meanwhile. Another program's lock
// is waited for as long as a write waits (engine_options::busy_timeout) over all databases
// together, and not again for a database that is refused already. For a thread that may wait for
// the disk.
//
//   loaded found = load_databases(storage, {databases, refused, cache_bytes});
//   if (found.has_changed) take_over(std::move(found));
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/store/catalog.hpp>
#include <weft/store/sqlite/storage.hpp>
#include <weft/store/table.hpp>

namespace weft::store::sqlite {

/// What a shard has open.
struct known_database {
  std::string name;
  file_identity identity;
  std::int64_t version;
  bool is_suspect;
};

struct loaded_database {
  std::string name;
  std::int64_t version = 0;
  std::vector<table_definition> tables{};  // none, if the catalog's are still good
  std::optional<connection> opened{};      // none: the shard's own is still good
  bool is_kept = false;                    // it is as it was, as far as can be seen
  bool is_refused = false;                 // as it was, but nothing can be read of it now
};

/// What a shard knows of the folder.
struct known_folder {
  std::span<const known_database> databases;
  std::span<const catalog::refused_database> refused;
  /// For the pages of each connection that is opened.
  std::uint64_t cache_bytes = 0;
};

struct loaded {
  bool has_changed = false;
  std::vector<loaded_database> databases;
  std::vector<catalog::refused_database> refused;  // none of those above
  std::vector<std::string> complaints;
};

[[nodiscard]] loaded load_databases(storage& from, const known_folder& known);

}  // namespace weft::store::sqlite

// What has become of the folder since a shard looked last.
//
// Contract: load_databases() compares the files with what the shard knows and, if anything is new,
// gives all that the shard needs to go on: the databases with their tables, and connections for
// those whose file is new or suspect. What cannot be read is left out, with a line for people. For
// a thread that may wait for the disk.
//
//   loaded found = load_databases(storage, known, cache_bytes);
//   if (found.has_changed) take_over(std::move(found));
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

struct loaded {
  bool has_changed = false;
  std::vector<loaded_database> databases;
  std::vector<std::string> complaints;
};

/// `cache_bytes`: for the pages of each connection that is opened.
[[nodiscard]] loaded load_databases(storage& from, std::span<const known_database> known,
                                    std::uint64_t cache_bytes);

}  // namespace weft::store::sqlite

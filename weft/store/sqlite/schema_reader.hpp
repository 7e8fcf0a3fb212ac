// What tables a database has, as its file says.
//
// Contract: tables with their columns, key and indexes, as of one moment, which the schema's
// version names; views, virtual tables and SQLite's own are left out. A database whose texts are
// UTF-16 is refused, for values are handed over as they lie there. Reads from the disk: for a
// thread that may wait.
//
//   auto read = read_schema(connection, "shop");
//   if (!read) log::error(read.error().message);
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include <weft/store/sqlite/handle.hpp>
#include <weft/store/table.hpp>

namespace weft::store::sqlite {

struct database_schema {
  std::int64_t version = 0;  // PRAGMA schema_version
  std::vector<table_definition> tables;
};

/// Why a schema could not be read. The message is for clients, too: it names no folder.
struct schema_fault {
  failure_kind why = failure_kind::other;
  std::string message;
};

[[nodiscard]] std::expected<database_schema, schema_fault> read_schema(connection& from,
                                                                       const std::string& database);

}  // namespace weft::store::sqlite

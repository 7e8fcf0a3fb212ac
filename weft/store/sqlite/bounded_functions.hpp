// Functions of SQLite's that a query may call on long texts: instr(), replace(), trim(), LIKE,
// GLOB.
//
// Problem: SQLite's own instr(), replace() and trim() compare at each byte with all of the other
// text: two texts of a MiB keep a thread for minutes, within one instruction of SQLite's machine,
// after which alone a query's time is looked at; and hundreds of instructions may come before that.
// Contract: the same answers as SQLite's for texts in UTF-8 and for bytes, in linear time (trim:
// times the logarithm of its second argument); LIKE and GLOB as SQLite compares, with patterns as
// long as SQLITE_LIMIT_LIKE_PATTERN_LENGTH has it. Each call asks first whether the query is over
// (query_watch.hpp). SQLite goes by no index for a LIKE or GLOB that is not its own. For the life
// of the connection.
//
//   if (const int code = add_bounded_functions(connection); code != SQLITE_OK) ...
#pragma once

#include <weft/store/sqlite/handle.hpp>

namespace weft::store::sqlite {

/// A result code of SQLite's.
[[nodiscard]] int add_bounded_functions(connection& to) noexcept;

}  // namespace weft::store::sqlite

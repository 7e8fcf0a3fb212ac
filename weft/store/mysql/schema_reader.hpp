// The tables of a server, as its information_schema tells them.
//
// Contract: databases that are the server's own are left out, and so are views. Where databases are
// named, the tables of others are not looked at: the others come without them. Types that MariaDB
// has and MySQL has not come as what their values are told as: UUID, INET4 and INET6 as VARCHAR
// without a bound, others, as POINT, as BLOB. A primary key of the beginnings of columns is none
// for us, and an index ends before such a column, or before an expression; those that have no order
// (FULLTEXT, SPATIAL, HASH), or that the server does not use (IGNORED, INVISIBLE), are left out.
// What changes while this reads may be told in part: read again where that matters. Fails as
// connection::execute() does.
//
//   auto found = co_await read_schema(server, {});
//   if (found) catalog_ref schema{std::make_unique<catalog>(std::move(*found))};
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/store/catalog.hpp>
#include <weft/store/mysql/connection.hpp>

namespace weft::store::mysql {

/// `databases`: whose tables are read; empty: those of all.
[[nodiscard]] borrowing_task<result<std::vector<catalog::database_definition>>> read_schema(
    connection& server, std::span<const std::string> databases WEFT_LIFETIME_BOUND);

}  // namespace weft::store::mysql

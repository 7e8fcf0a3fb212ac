// A client's query in SQL, before a server sees it.
//
// Problem: a session of MySQL's may do far more than read: write files, wait, lock, keep variables
// for whoever comes next, and read all databases that its user may, though the client may read one.
// Contract: what begins with SELECT, WITH, VALUES or TABLE alone goes through, without variables
// (@), INTO, locks (FOR UPDATE), calls of functions that wait, lock, count sequences on, read files
// or tell of the account, comments that MySQL runs, and names in `others`, the databases that are
// not the query's. Told of any bytes, in one pass, with the tokens that MySQL finds in them
// (MySQL 8.0 Reference Manual, chapter 9). The transaction around it sees to it that nothing is
// written. Parameters are `?` by place and `:name` by name, one after the other.
//
//   const auto read = read_query_text(request, other_databases);
//   if (!read) sink.failed({.kind = failure_kind::invalid, .message = read.error()});
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include <weft/store/query.hpp>

namespace weft::store::mysql {

inline constexpr std::size_t query_bytes_max = 64 * 1024;

struct query_text {
  std::string sql;  // with question marks alone
  std::vector<value> parameters;
};

/// Else what is wrong with it, for people. Names in `others` are compared without the case of
/// letters.
[[nodiscard]] std::expected<query_text, std::string> read_query_text(
    const query_request& request, std::span<const std::string> others);

}  // namespace weft::store::mysql

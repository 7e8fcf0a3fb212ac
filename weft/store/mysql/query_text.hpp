// A client's query in SQL, before a server sees it.
//
// Problem: a session of MySQL's may do far more than read: write files, wait, lock, keep variables
// for whoever comes next, and read all databases that its user may, though the client may read one.
// Contract: allowlists. A query begins with SELECT, WITH, VALUES or TABLE. It names, where tables
// are named, those that the catalog has in the query's database, and those of its own WITH. It
// calls the functions of query_functions.hpp. It has no variables (@), INTO, locks (FOR UPDATE),
// and no comments that MySQL runs. All else is refused, with what it was. The text is any bytes,
// and read in one pass. The transaction around it sees to it that nothing is written. Parameters
// are `?` by place and `:name` by name, one after the other.
//
//   const auto read = read_query_text(request, schema);
//   if (!read) sink.failed({.kind = failure_kind::invalid, .message = read.error().message});
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

#include <weft/store/catalog.hpp>
#include <weft/store/query.hpp>

namespace weft::store::mysql {

inline constexpr std::size_t query_bytes_max = 64 * 1024;

struct query_text {
  std::string sql;  // with question marks alone
  std::vector<value> parameters;
};

struct query_refusal {
  query_fault of = query_fault::unsupported;
  std::string message;  // for people
};

/// Else what is wrong with it. Names of tables are compared without the case of ASCII
/// letters, as some servers do; the database's name must be as it is.
[[nodiscard]] std::expected<query_text, query_refusal> read_query_text(const query_request& request,
                                                                       const catalog& schema);

}  // namespace weft::store::mysql

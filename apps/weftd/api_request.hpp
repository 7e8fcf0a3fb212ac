// Requests for rows by primary key, as they come in JSON.
//
// Contract: views of the request's memory; what may be left out or null is optional, even where the
// API insists on it, since what it says of that is more than "missing" (check_request.hpp). A name
// that there is not in the API is refused: misspelled, "readColumns" would read all of them. Each
// list says how many elements it takes, and all of a request together take no more memory than
// `request_policy` grants: both hold while it is read.
//
//   auto asked = read_document<batch_read_request>(body, memory);
//   if (!asked) return reply(e, asked.error(), version);
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include <weft/json/lent.hpp>
#include <weft/store/scan.hpp>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/request_memory.hpp>

namespace weftd {

using lent_text = weft::json::lent_text;

/// Of a table: no engine has more.
inline constexpr std::size_t columns_max = 4096;
/// Of an index that scans go by.
inline constexpr std::size_t index_columns_max = 64;
/// Of AND, OR, NAND and NOR.
inline constexpr std::size_t filter_args = 2;

struct column_value {
  std::optional<lent_text> column;
  weft::json::lent_scalar value;

  static constexpr weft::json::description descriptions[] = {
      {.name = "column", .text = {}, .is_required = true},
      {"value", "A string or a number, as the column's type wants it; null for no value"}};
};

struct read_column {
  std::optional<lent_text> column;
  std::optional<lent_text> dataReturnType;

  static constexpr weft::json::description descriptions[] = {
      {.name = "column", .text = {}, .is_required = true}, {"dataReturnType", "\"default\""}};
};

using column_values = request_list<column_value, columns_max>;
using read_columns = request_list<read_column, columns_max>;

struct pk_read_request {
  std::optional<column_values> filters;
  std::optional<read_columns> readColumns;
  std::optional<lent_text> operationId;

  static constexpr weft::json::description descriptions[] = {
      {.name = "filters",
       .text = "Each column of the primary key once, and no other",
       .is_required = true},
      {"readColumns", "In the order wanted; all but the key's where there are none"},
      {"operationId", "Comes back as it is"}};
};

struct pk_write_request {
  std::optional<column_values> filters;
  std::optional<column_values> writeColumns;
  std::optional<lent_text> operationId;

  static constexpr weft::json::description descriptions[] = {
      {.name = "filters",
       .text = "Each column of the primary key once, and no other",
       .is_required = true},
      {"writeColumns", "What is set, and to what; none to delete"},
      {"operationId", "Comes back as it is"}};
};

/// Of a tree; which members it has depends on `op`.
struct scan_filter {
  std::optional<lent_text> op;
  std::optional<request_list<scan_filter, filter_args>> args;
  std::optional<lent_text> column;
  std::optional<lent_text> cond;
  weft::json::lent_scalar value;

  static constexpr weft::json::description descriptions[] = {
      {"", "A tree of comparisons, 32 deep at most"},
      {.name = "op", .text = "AND, OR, NAND, NOR, CMP, ISNULL or ISNOTNULL", .is_required = true},
      {"args", "Two, of AND, OR, NAND and NOR"},
      {"column", "Of CMP, ISNULL and ISNOTNULL"},
      {"cond", "Of CMP: GT, GE, LT, LE, EQ or NE"},
      {"value", "Of CMP: what the column is compared with"}};
};

struct scan_bound {
  std::optional<request_list<weft::json::lent_scalar, index_columns_max>> values;
  std::optional<bool> inclusive;

  static constexpr weft::json::description descriptions[] = {
      {"values", "Of the index's first columns; may be fewer than those; none bounds nothing"},
      {"inclusive", "Left out: true"}};
};

struct scan_range {
  std::optional<scan_bound> lower;
  std::optional<scan_bound> upper;
};

using scan_ranges = request_list<scan_range, weft::store::key_ranges_max>;

struct scan_index {
  std::optional<lent_text> name;
  std::optional<request_list<lent_text, index_columns_max>> key_columns;
  std::optional<scan_ranges> ranges;
  std::optional<lent_text> order;

  static constexpr weft::json::description descriptions[] = {
      {"name", "Of an index of the table, or PRIMARY"},
      {"key_columns", "Its first columns; left out: all"},
      {"ranges", "64 at most; none: all"},
      {"order", "asc or desc"}};
};

struct scan_request {
  std::optional<read_columns> readColumns;
  std::optional<scan_filter> filters;
  std::optional<scan_index> index;
  std::optional<std::int64_t> limit;
  std::optional<lent_text> continuation;

  static constexpr weft::json::description descriptions[] = {
      {"readColumns", "In the order wanted; all where there are none"},
      {"filters", "What rows must hold"},
      {"index", "In whose order, and within which bounds"},
      {.name = "limit", .text = "Rows at most", .is_required = true},
      {"continuation", "As the reply before had it: goes on behind its last row"}};
};

/// Clients of the RonDB REST server may leave it out; null is refused there and here.
struct operation_method {
  weft::json::lent_scalar sent;
};

template <class Body>
struct batched {
  operation_method method;
  std::optional<lent_text> relative_url;
  std::optional<Body> body;

  static constexpr weft::json::description descriptions[] = {
      {"method", "POST; DELETE to delete; POST if left out, but not null"},
      {.name = "relative-url",
       .text = "Its last three parts count: database/table/pk-read",
       .is_required = true},
      {.name = "body", .text = {}, .is_required = true}};
};
using read_operation = batched<pk_read_request>;
using write_operation = batched<pk_write_request>;

template <class Operation>
struct batch_of {
  std::optional<request_list<Operation, &using_memory::operations_max>> operations;

  static constexpr weft::json::description descriptions[] = {
      {.name = "operations", .text = {}, .is_required = true}};
};
using batch_read_request = batch_of<read_operation>;
using batch_write_request = batch_of<write_operation>;

/// What a request may take beside its text: the densest that make sense have four bytes for one.
inline constexpr weft::json::policy request_policy{
    .allow_missing_names = true, .memory_per_byte = 4, .least_memory_bytes = std::size_t{1} << 20U};

/// What the API says of a body that is no such request.
[[nodiscard]] api_fault not_such_a_request(const weft::json::error& why);

/// Its lists lie in `memory`, too, which says how many operations a batch has. Throws
/// std::bad_alloc if the shard has no memory for it.
template <class Request>
[[nodiscard]] std::expected<Request, api_fault> read_document(std::string_view body,
                                                              request_memory& memory) {
  const using_memory here{memory};
  memory.hold_document(body.size());
  std::expected<Request, api_fault> asked;
  if (auto done = weft::json::read_lent<request_policy>(*asked, body, memory.document); !done)
    asked = std::unexpected{not_such_a_request(done.error())};
  return asked;
}

}  // namespace weftd

template <>
struct glz::from<glz::JSON, weftd::operation_method> {
  template <auto Options>
  static void op(weftd::operation_method& into, glz::is_context auto& context, auto& at,
                 auto& end) {
    glz::from<glz::JSON, weft::json::lent_scalar>::op<Options>(into.sent, context, at, end);
  }
};

namespace weft::json::detail {

template <>
inline constexpr shape shape_data<weftd::operation_method>{.kind = shape_kind::nullable,
                                                           .element = &shape_of<std::string>};

}  // namespace weft::json::detail

template <class Body>
struct glz::meta<weftd::batched<Body>> {
  static constexpr std::string_view rename_key(std::string_view member) {
    return member == "relative_url" ? "relative-url" : member;
  }
};

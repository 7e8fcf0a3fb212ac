// Requests for rows by primary key, as they come in JSON.
//
// Contract: views of the request's memory; what may be left out or null is optional, even where the
// API insists on it, since what it says of that is more than "missing" (check_request.hpp). A name
// that there is not in the API is refused: misspelled, "readColumns" would read all of them.
//
//   auto asked = read_document<batch_read_request>(body, memory);
//   if (!asked) return reply(e, asked.error(), version);
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include <weft/json/lent.hpp>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/request_memory.hpp>

namespace weftd {

using lent_text = weft::json::lent_text;

struct column_value {
  std::optional<lent_text> column;
  weft::json::lent_scalar value;
};

struct read_column {
  std::optional<lent_text> column;
  std::optional<lent_text> dataReturnType;
};

struct pk_read_request {
  std::optional<request_vector<column_value>> filters;
  std::optional<request_vector<read_column>> readColumns;
  std::optional<lent_text> operationId;
};

struct pk_write_request {
  std::optional<request_vector<column_value>> filters;
  std::optional<request_vector<column_value>> writeColumns;
  std::optional<lent_text> operationId;
};

/// Of a tree; which members it has depends on `op`.
struct scan_filter {
  std::optional<lent_text> op;
  std::optional<request_vector<scan_filter>> args;
  std::optional<lent_text> column;
  std::optional<lent_text> cond;
  weft::json::lent_scalar value;
};

struct scan_bound {
  std::optional<request_vector<weft::json::lent_scalar>> values;
  std::optional<bool> inclusive;
};

struct scan_range {
  std::optional<scan_bound> lower;
  std::optional<scan_bound> upper;
};

struct scan_index {
  std::optional<lent_text> name;
  std::optional<request_vector<lent_text>> key_columns;
  std::optional<request_vector<scan_range>> ranges;
  std::optional<lent_text> order;
};

struct scan_request {
  std::optional<request_vector<read_column>> readColumns;
  std::optional<scan_filter> filters;
  std::optional<scan_index> index;
  std::optional<std::int64_t> limit;
  std::optional<lent_text> continuation;
};

template <class Body>
struct batched {
  std::optional<lent_text> method;
  std::optional<lent_text> relative_url;
  std::optional<Body> body;
};
using read_operation = batched<pk_read_request>;
using write_operation = batched<pk_write_request>;

template <class Operation>
struct batch_of {
  std::optional<request_vector<Operation>> operations;
};
using batch_read_request = batch_of<read_operation>;
using batch_write_request = batch_of<write_operation>;

/// Its vectors lie in `memory`, too.
template <class Request>
[[nodiscard]] std::expected<Request, api_fault> read_document(std::string_view body,
                                                              request_memory& memory) {
  const using_memory here{memory};
  std::expected<Request, api_fault> asked;
  constexpr weft::json::policy lenient{.allow_missing_names = true};
  if (auto done = weft::json::read_lent<lenient>(*asked, body, memory.document); !done)
    asked = std::unexpected{bad_request(done.error().message())};
  return asked;
}

}  // namespace weftd

template <class Body>
struct glz::meta<weftd::batched<Body>> {
  using type = weftd::batched<Body>;
  static constexpr auto value = glz::object("method", &type::method, "relative-url",
                                            &type::relative_url, "body", &type::body);
};

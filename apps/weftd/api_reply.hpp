// What replies are, for documents that tell.
//
// Contract: shapes of what read_batch.hpp, scan_reply.hpp and others write piece by piece;
// tests/system/test_weftd_document.py holds the two together, by asking for everything.
//
//   json::shape_of<batch_reply>()
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/json/lent.hpp>

namespace weftd {

/// By the columns' names.
using row_document = std::map<std::string, weft::json::lent_scalar>;

struct row_reply {
  std::int32_t code;
  std::string operationId;
  row_document data;

  static constexpr weft::json::description descriptions[] = {
      {"code", "200, or 404 where there is no such row"},
      {"operationId", "As it was sent"},
      {"data", "Column by column; empty where there is no such row"}};
};

struct operation_result {
  std::string operationId;
  row_document data;
};

struct operation_reply {
  std::int32_t code;
  operation_result body;
  std::optional<std::string> message;

  static constexpr weft::json::description descriptions[] = {
      {"code",
       "As of a reply to the operation alone; of a write that was not done since another of its "
       "database has failed: 424"},
      {"message", "Why there is no data, or it was not done; told by version 0.2.0"}};
};

struct batch_reply {
  std::vector<operation_reply> result;

  static constexpr weft::json::description descriptions[] = {
      {"result", "One for each operation, in their order"}};
};

struct rows_reply {
  std::vector<row_document> data;
  std::uint64_t rows;
  std::optional<std::string> continuation;

  static constexpr weft::json::description descriptions[] = {
      {"rows", "How many there are in `data`"},
      {"continuation", "Where the next request goes on; missing at the end"}};
};

struct sql_document {
  std::vector<std::string> columns;
  std::vector<row_document> data;
  std::uint64_t rows;
  std::optional<bool> truncated;

  static constexpr weft::json::description descriptions[] = {
      {"columns", "In the query's order; the second id is id:1"},
      {"rows", "How many there are in `data`"},
      {"truncated", "true: there are more than the limit, or than a reply may have"}};
};

struct ronsql_document {
  std::optional<std::string> operationId;
  std::vector<row_document> data;
};

/// What 0.2.0 says of a fault. Typed clients of the RonDB REST server decode all numbers; those of
/// its engine, NDB, are -1 there, too, where it has nothing to say.
struct described_fault {
  std::int32_t code;
  std::string message;
  std::int32_t status = -1;
  std::int32_t classification = -1;
  std::int32_t ndbCode = -1;
  std::int32_t mysqlCode = -1;

  static constexpr weft::json::description descriptions[] = {
      {"code", "The status of the reply"},
      {"message", "Cause, value and what would be right, for people"},
      {"status", "Of NDB: -1"},
      {"classification", "Of NDB: -1"},
      {"ndbCode", "Of NDB: -1"},
      {"mysqlCode", "-1"}};
};
struct fault_document {
  described_fault error;
};

}  // namespace weftd

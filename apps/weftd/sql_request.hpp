// Requests in SQL, as they come in JSON.
//
//   auto asked = read_document<sql_request>(body, memory);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include <apps/weftd/api_request.hpp>
#include <weft/json/lent.hpp>

namespace weftd {

/// SQLite takes no more, either.
inline constexpr std::size_t parameters_max = 1000;

using listed_parameters = weft::json::bounded_vector<weft::json::lent_scalar, parameters_max>;
using named_parameters = std::map<std::string, weft::json::lent_scalar>;

struct sql_request {
  std::optional<lent_text> database;
  std::optional<lent_text> query;
  std::optional<std::variant<listed_parameters, named_parameters>> parameters;
  std::optional<std::int64_t> limit;

  static constexpr weft::json::description descriptions[] = {
      {.name = "database", .text = {}, .is_required = true},
      {.name = "query", .text = "One SELECT", .is_required = true},
      {"parameters", "What ? or ?1 stand for, in a list; what :name stands for, by name"},
      {"limit", "Rows at most"}};
};

/// As the RonDB REST server has it.
struct ronsql_request {
  std::optional<lent_text> query;
  std::optional<lent_text> database;
  std::optional<lent_text> explainMode;
  std::optional<lent_text> outputFormat;
  std::optional<lent_text> operationId;

  static constexpr weft::json::description descriptions[] = {
      {.name = "query", .text = "One SELECT", .is_required = true},
      {.name = "database", .text = {}, .is_required = true},
      {"explainMode", "ALLOW"},
      {"outputFormat", "JSON, JSON_ASCII, TEXT or TEXT_NOHEADER"},
      {"operationId", "Comes back as it is"}};
};

}  // namespace weftd

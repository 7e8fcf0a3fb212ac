#include <apps/weftd/sql_api.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/http/server.hpp>
#include <weft/store/convert.hpp>
#include <weft/store/query.hpp>

#include <apps/weftd/access.hpp>
#include <apps/weftd/api_description.hpp>
#include <apps/weftd/api_reply.hpp>
#include <apps/weftd/check_request.hpp>
#include <apps/weftd/reply_compression.hpp>
#include <apps/weftd/row_text.hpp>
#include <apps/weftd/sql_reply.hpp>
#include <apps/weftd/sql_request.hpp>

namespace weftd {
namespace {

namespace http = weft::http;
namespace json = weft::json;
namespace store = weft::store;

api_fault not_queried(weft::error why) {
  if (why == weft::errc::not_found)
    return {http::status::not_found, "Database/Table does not exist."};
  if (why == weft::errc::limit_exceeded)
    return try_again("too many queries wait already: try again later");
  if (why == weft::errc::exhausted)  // no memory, or no thread could be started
    return try_again(weft::format("the query was not made: {}", why.message()));
  if (why == weft::errc::cancelled)
    return try_again("the query was ended before it was done: try again later");
  if (why == weft::errc::unavailable) return not_reachable();
  if (why == weft::errc::timed_out)
    return {http::status::gateway_timeout,
            "the query took too long, and was ended: ask for less, or by an index"};
  return {http::status::internal_server_error,
          weft::format("the query was not made: {}", why.message())};
}

using parameters = std::vector<store::query_parameter>;

checked check_text(const std::optional<lent_text>& database,
                   const std::optional<lent_text>& query) {
  if (!database) return refuse("the database is missing");
  if (!query || query->view().empty()) return refuse("the query is missing");
  return check_database(database->view());
}

/// A number is whole if it is written so and 64 bits hold it.
std::expected<store::value, api_fault> number_value(std::string_view written) {
  std::int64_t whole = 0;
  const char* const end = written.data() + written.size();
  const auto read = std::from_chars(written.data(), end, whole);
  if (read.ec == std::errc{} && read.ptr == end) return store::value::integer(whole);
  static const store::column real{.name = {}, .type = store::column_type::float64};
  store::scratch unused;
  const auto made =
      store::to_value({store::json_kind::number, written}, real, store::purpose::content, unused);
  if (made) return *made;
  return refuse(weft::format("the parameter {} is beyond what a number holds", written));
}

std::expected<store::value, api_fault> parameter_value(const json::lent_scalar& given) {
  switch (given.kind()) {
    case json::scalar_kind::boolean: return store::value::integer(given.view() == "true" ? 1 : 0);
    case json::scalar_kind::number: return number_value(given.view());
    case json::scalar_kind::string: return store::value::text(given.view());
    case json::scalar_kind::null: break;
  }
  return store::value{};
}

std::expected<parameters, api_fault> listed(const listed_parameters& given) {
  parameters all;
  for (const json::lent_scalar& each : given) {
    const auto bound = parameter_value(each);
    if (!bound) return std::unexpected{bound.error()};
    all.push_back({.bound = *bound});
  }
  return all;
}

std::expected<parameters, api_fault> named(const named_parameters& given) {
  parameters all;
  for (const auto& each : given) {
    if (each.first.empty()) return refuse("a parameter has an empty name");
    const auto bound = parameter_value(each.second);
    if (!bound) return std::unexpected{bound.error()};
    all.push_back({.name = each.first, .bound = *bound});
  }
  return all;
}

std::expected<parameters, api_fault> parameters_of(const sql_request& asked) {
  if (const auto fine = check_text(asked.database, asked.query); !fine)
    return std::unexpected{fine.error()};
  if (asked.limit && *asked.limit < 0) return refuse("the limit is below 0");
  if (!asked.parameters) return parameters{};
  if (const auto* const list = std::get_if<listed_parameters>(&*asked.parameters))
    return listed(*list);
  return named(std::get<named_parameters>(*asked.parameters));
}

/// The reply has no way to say that it is not all.
api_fault too_many(const sql_api_options& bounds) {
  return {
      http::status::content_too_large,
      weft::format("the reply would have more than {} rows or {} bytes: ask for fewer, by LIMIT",
                   bounds.rows, bounds.reply_bytes)};
}

/// What a reply to ronsql is.
struct ronsql_form {
  std::string_view name;
  row_form rows;
  http::media_type type;
};
/// As RonDB has them, by their names.
constexpr ronsql_form ronsql_forms[] = {
    {"JSON", {}, http::application_json},
    {"JSON_ASCII", {.is_ascii = true}, "application/json; charset=US-ASCII"},
    {"TEXT",
     {.is = row_form::kind::text, .tells_names = true},
     "text/tab-separated-values; charset=utf-8; header=present"},
    {"TEXT_NOHEADER",
     {.is = row_form::kind::text},
     "text/tab-separated-values; charset=utf-8; header=absent"}};

/// Nothing: there is none of that name.
const ronsql_form* form_of(const ronsql_request& asked) noexcept {
  if (!asked.outputFormat) return &ronsql_forms[0];
  const auto* const found =
      std::ranges::find(ronsql_forms, asked.outputFormat->view(), &ronsql_form::name);
  return found == std::end(ronsql_forms) ? nullptr : found;
}

/// In the words of the RonDB REST server.
std::string_view class_of(http::status code, store::query_fault of) noexcept {
  switch (of) {
    case store::query_fault::syntax: return "syntax";
    case store::query_fault::semantic: return "semantic";
    case store::query_fault::unsupported: return "unsupported";
    case store::query_fault::limit: return "limit";
    case store::query_fault::none: break;
  }
  switch (code) {
    case http::status::bad_request:
    case http::status::not_found: return "semantic";
    case http::status::content_too_large: return "limit";
    case http::status::service_unavailable:
    case http::status::gateway_timeout:
    case http::status::insufficient_storage: return "resource";
    default: return "internal";
  }
}

/// Of a query that was made, or was to be.
void reply_classed(http::exchange& e, api_fault why, store::query_fault of, api_version spoken) {
  why.fields += weft::format("X-RonSQL-Error-Class: {}\r\n", class_of(why.code, of));
  reply(e, why, spoken);
}

checked check(const ronsql_request& asked) {
  const ronsql_form* const form = form_of(asked);
  if (form == nullptr)
    return refuse(
        weft::format("Invalid outputFormat: '{}' is none of JSON, JSON_ASCII, TEXT and "
                     "TEXT_NOHEADER",
                     asked.outputFormat->view()));
  const bool has_id = asked.operationId && !asked.operationId->view().empty();
  if (has_id && form->rows.is == row_form::kind::text)
    return refuse(weft::format(
        "operationId not supported with output format {}: it has no place for it", form->name));
  if (auto fine = check_operation_id(asked.operationId, {}); !fine) return fine;
  if (asked.explainMode && asked.explainMode->view() != "ALLOW")
    return refuse("the explainMode ALLOW is the only one supported");
  return check_text(asked.database, asked.query);
}

/// Up to the rows.
void begin_ronsql(const ronsql_request& asked, bool is_ascii, std::string& out) {
  out = "{";
  if (!asked.operationId) return;
  std::string id;
  append_text(asked.operationId->view(), id);
  out += R"("operationId":)";
  if (is_ascii)
    append_ascii(id, out);
  else
    out += id;
  out += ',';
}

http::route_description describe_ronsql(api_version spoken) {
  auto made = describe<ronsql_request, ronsql_document>(
      spoken, {.summary = "Reads by one SELECT, as the RonDB REST server does",
               .example = R"({"database":"demo","query":"SELECT count(*) FROM users"})",
               .tag = "sql",
               .success = "What was found",
               .faults = {http::status::content_too_large}});
  made.replies.push_back({.code = http::status::ok, .media_type = "text/tab-separated-values"});
  return made;
}

}  // namespace

sql_api::sql_api(sql_api_options options, http::server& server, store::query_engine& engine,
                 access& doors, reply_compression& compression)
    : options_{options}, engine_{engine}, doors_{doors} {
  add_routes(server, compression, api_version::v0_1_0);
  add_routes(server, compression, api_version::v0_2_0);
}

void sql_api::add_routes(http::server& server, reply_compression& compression, api_version spoken) {
  auto api = compression.around(server.group(prefix_of(spoken))
                                    .within({.body_bytes = options_.request_bytes,
                                             .client_look_interval = std::chrono::milliseconds{50}})
                                    .taking_bodies_if([this](const http::header_list& fields) {
                                      return doors_.may_send_body(fields);
                                    }));
  api.post(
      "/sql",
      http::described(
          [this, spoken](http::exchange& e) {
            e.work.emplace(serve_or_refuse(e, spoken, answer_sql(e, spoken)));
          },
          guarded(
              doors_, spoken,
              describe<sql_request, sql_document>(
                  spoken,
                  {.summary = "Reads by one SELECT, with values bound to its parameters",
                   .example = R"({"database":"demo","query":"SELECT name FROM users WHERE id=:id",)"
                              R"("parameters":{"id":17}})",
                   .tag = "sql",
                   .success = "What was found"}))));
  api.post("/ronsql", http::described(
                          [this, spoken](http::exchange& e) {
                            e.work.emplace(serve_or_refuse(e, spoken, answer_ronsql(e, spoken)));
                          },
                          guarded(doors_, spoken, describe_ronsql(spoken))));
}

weft::task<void> sql_api::answer_sql(http::exchange& e, api_version spoken) {
  const auto who = doors_.identify(e);
  if (!who) co_return reply(e, who.error(), spoken);
  const auto memory = memories_.take();
  const auto asked = read_document<sql_request>(e.request().body(), *memory);
  if (!asked) co_return reply(e, asked.error(), spoken);
  const auto given = parameters_of(*asked);
  if (!given) co_return reply(e, given.error(), spoken);
  const auto fine = who->allows(right::read, asked->database->view());
  if (!fine) co_return reply(e, fine.error(), spoken);
  const std::size_t limit = asked->limit ? static_cast<std::size_t>(*asked->limit) : options_.rows;
  memory->reply = "{";
  sql_reply rows{*memory, options_.reply_bytes, {.tells_names = true}};
  const auto is_all = co_await engine_.query({.database = asked->database->view(),
                                              .text = asked->query->view(),
                                              .parameters = *given,
                                              .rows_max = std::min(limit, options_.rows)},
                                             rows);
  if (!is_all) co_return reply(e, not_queried(is_all.error()), spoken);
  if (rows.failure()) co_return reply(e, *rows.failure(), spoken);
  memory->reply += R"(],"rows":)";
  memory->reply += std::to_string(rows.rows());
  memory->reply += *is_all && !rows.is_cut() ? "}" : R"(,"truncated":true})";
  co_await memory->send_all(e, http::status::ok);
}

weft::task<void> sql_api::answer_ronsql(http::exchange& e, api_version spoken) {
  const auto who = doors_.identify(e);
  if (!who) co_return reply(e, who.error(), spoken);
  const auto memory = memories_.take();
  const auto asked = read_document<ronsql_request>(e.request().body(), *memory);
  if (!asked) co_return reply(e, asked.error(), spoken);
  auto fine = check(*asked);
  if (fine) fine = who->allows(right::read, asked->database->view());
  if (!fine) co_return reply(e, fine.error(), spoken);
  const ronsql_form& form = *form_of(*asked);
  const bool is_json = form.rows.is == row_form::kind::json;
  if (is_json) begin_ronsql(*asked, form.rows.is_ascii, memory->reply);
  sql_reply rows{*memory, options_.reply_bytes, form.rows};
  const auto is_all = co_await engine_.query({.database = asked->database->view(),
                                              .text = asked->query->view(),
                                              .rows_max = options_.rows},
                                             rows);
  const store::query_fault of = rows.fault_of_query();
  if (!is_all) co_return reply_classed(e, not_queried(is_all.error()), of, spoken);
  if (rows.failure()) co_return reply_classed(e, *rows.failure(), of, spoken);
  if (!*is_all || rows.is_cut()) co_return reply_classed(e, too_many(options_), of, spoken);
  if (is_json) memory->reply += "]}";
  co_await memory->send_all(e, http::status::ok, form.type);
}

}  // namespace weftd

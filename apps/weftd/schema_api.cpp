#include <apps/weftd/schema_api.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <apps/weftd/access.hpp>
#include <apps/weftd/api_description.hpp>
#include <weft/base/format.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/server.hpp>
#include <weft/json/write.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/turn_share.hpp>

namespace weftd {

namespace http = weft::http;
namespace store = weft::store;

struct column_document {
  std::string name;
  std::string type;
  bool nullable;
  bool hasDefault;
  bool generated;

  static constexpr weft::json::description descriptions[] = {
      {"type", "As SQL has it, with its size: DECIMAL(10,2), INT UNSIGNED"},
      {"hasDefault", "It may be left out where a row is inserted, though it is not nullable"},
      {"generated", "The database computes it: it is read, and never written"}};
};
struct index_document {
  std::string name;
  std::vector<std::string> columns;
  bool unique;
};
struct table_document {
  std::string name;
  std::vector<column_document> columns;
  std::vector<std::string> key;
  std::vector<index_document> indexes;

  static constexpr weft::json::description descriptions[] = {
      {"columns", "In the table's order"},
      {"key", "The columns of the primary key, in its order; empty: there is none"}};
};
struct database_document {
  std::string name;
  bool writable;
  std::vector<table_document> tables;

  static constexpr weft::json::description descriptions[] = {
      {"writable", "Whether who asks may write to it"}};
};
struct schema_document {
  std::vector<database_document> databases;
};

namespace {

std::string size_of(const store::column& column) {
  if (column.length != 0) return weft::format("({})", column.length);
  if (column.precision != 0) return weft::format("({},{})", column.precision, column.scale);
  if (column.fraction_digits != 0) return weft::format("({})", column.fraction_digits);
  return {};
}

column_document describe(const store::column& column) {
  return {.name = column.name,
          .type = weft::format("{}{}{}", to_string(column.type), size_of(column),
                               column.is_unsigned ? " UNSIGNED" : ""),
          .nullable = column.is_nullable,
          .hasDefault = column.has_default,
          .generated = column.is_generated};
}

std::vector<std::string> names_of(const store::table& table,
                                  std::span<const store::column_position> positions) {
  std::vector<std::string> names;
  for (const store::column_position each : positions) names.push_back(table.columns()[each].name);
  return names;
}

table_document describe(const store::table& table) {
  table_document made{
      .name = table.name(), .columns = {}, .key = names_of(table, table.key()), .indexes = {}};
  for (const store::column& each : table.columns()) made.columns.push_back(describe(each));
  for (const store::secondary_index& each : table.indexes())
    made.indexes.push_back({each.name, names_of(table, each.columns), each.is_unique});
  return made;
}

/// As a schema_document, table by table: a schema may have thousands of them, and many may ask for
/// it at once.
class schema_text {
 public:
  schema_text(request_memory& memory, const permit& found) noexcept
      : memory_{memory}, found_{found} {}

  /// False: there is no memory for more.
  weft::task<bool> write(store::catalog_ref schema) {
    memory_.reply = R"({"databases":[)";
    std::string_view before;
    for (const std::string& name : schema->databases()) {
      if (!found_.allows(right::read, name)) continue;
      memory_.reply.append(std::exchange(before, ","));
      begin(name);
      if (!co_await write_tables(*schema, name)) co_return false;
      memory_.reply.append("]}");
    }
    memory_.reply.append("]}");
    co_return true;
  }

 private:
  void begin(const std::string& database) {
    weft::json::write(database, piece_);
    memory_.reply.append(R"({"name":)").append(piece_).append(R"(,"writable":)");
    memory_.reply.append(found_.allows(right::write, database) ? "true" : "false");
    memory_.reply.append(R"(,"tables":[)");
  }

  weft::task<bool> write_tables(const store::catalog& schema, const std::string& database) {
    std::string_view before;
    for (const auto& each : schema.tables()) {
      if (each->database() != database) continue;
      weft::json::write(describe(*each), piece_);
      memory_.reply.append(std::exchange(before, ",")).append(piece_);
      if (!memory_.has_room()) co_return false;
      if (share_.is_used_up(memory_.reply_bytes()))
        co_await store::next_turn(weft::event_loop::current());
    }
    co_return true;
  }

  request_memory& memory_;
  const permit& found_;
  store::turn_share share_;
  std::string piece_;
};

}  // namespace

weft::task<void> schema_api::answer(http::exchange& e, store::engine& engine, access& doors,
                                    api_version spoken) {
  const auto found = doors.identify(e);
  if (!found) co_return reply(e, found.error(), spoken);
  // The keys may be read again meanwhile.
  std::optional<const api_key> key;
  if (!found->is_for_all()) key.emplace(found->key());
  const permit allowed = key ? permit{*key} : permit::for_all();
  // If the look fails, what was seen last is still the best answer.
  static_cast<void>(co_await engine.after_miss());
  const auto memory = memories_.take();
  schema_text text{*memory, allowed};
  if (co_await text.write(engine.schema()))
    co_return co_await memory->send_all(e, http::status::ok);
  memory->give_up_reply();
  reply(e, memory->why_no_room(), spoken);
}

schema_api::schema_api(http::server& server, store::engine& engine, access& doors) {
  for (const api_version spoken : {api_version::v0_1_0, api_version::v0_2_0})
    server.group(prefix_of(spoken))
        .get("/schema",
             http::described(
                 [&, spoken](http::exchange& e) {
                   e.work.emplace(answer(e, engine, doors, spoken));
                 },
                 guarded(doors, spoken,
                         describe(spoken,
                                  {.summary = "Which databases, tables and columns there are",
                                   .tag = "schema",
                                   .success = "Those that the key may read"},
                                  nullptr, &weft::json::shape_of<schema_document>))));
}

}  // namespace weftd

#include <apps/weftd/row_api.hpp>

#include <algorithm>
#include <expected>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/utf8.hpp>
#include <weft/http/server.hpp>
#include <weft/http/target.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/store/engine.hpp>

#include <apps/weftd/access.hpp>
#include <apps/weftd/api_description.hpp>
#include <apps/weftd/api_request.hpp>
#include <apps/weftd/check_batch.hpp>
#include <apps/weftd/read_batch.hpp>
#include <apps/weftd/reply_compression.hpp>
#include <apps/weftd/row_description.hpp>
#include <apps/weftd/row_plan.hpp>
#include <apps/weftd/row_text.hpp>
#include <apps/weftd/scan_plan.hpp>
#include <apps/weftd/scan_reply.hpp>
#include <apps/weftd/write_batch.hpp>

namespace weftd {
namespace {

namespace http = weft::http;
namespace store = weft::store;

/// How often a request is made anew because the schema changes while it is answered.
constexpr int attempts = 3;

api_fault outdated() {
  return try_again("the schema changes all the time: try again when it has settled");
}

/// Of a call to the engine that has told its sink no more.
api_fault not_done(weft::error why, std::string_view what) {
  if (why == weft::errc::limit_exceeded)
    return try_again(weft::format("the rows were not {}: too many wait already", what));
  if (why == weft::errc::exhausted)  // no memory, or no thread could be started
    return try_again(weft::format("the rows were not {}: {}", what, why.message()));
  if (why == weft::errc::unavailable) return not_reachable();
  const http::status code = why == weft::errc::timed_out ? http::status::gateway_timeout
                                                         : http::status::internal_server_error;
  return {code, weft::format("the rows were not {}: {}", what, why.message())};
}

/// Of a write that memory ran out for before the engine was asked.
api_fault nothing_written() {
  return try_again("the rows were not written: there is no memory for the request now");
}

/// Of a write that may have been committed before memory ran out.
api_fault outcome_unknown() {
  return {http::status::internal_server_error,
          "memory ran out, so that nobody knows whether the rows were written: look before you "
          "write them again"};
}

/// Whether nobody knows yet what there is.
bool is_unknown(const store::engine& engine) noexcept {
  const store::catalog& schema = *engine.schema();
  return schema.databases().empty() && schema.refused().empty() && !engine.is_reachable();
}

/// Of a request that could not be planned: what it is answered; nothing: to be planned anew, since
/// the schema has changed. Looks once a request. A batch fails as a whole if the server is to
/// blame.
weft::task<std::optional<api_fault>> look_again(store::engine& engine, api_fault fault,
                                                const store::catalog_ref& planned,
                                                bool& has_looked) {
  if (fault.is_of_schema && !std::exchange(has_looked, true)) {
    if (const auto looked = co_await engine.after_miss(); !looked)
      co_return not_done(looked.error(), "looked for");
    if (engine.schema().get() != planned.get()) co_return std::nullopt;
  }
  if (fault.code >= http::status::internal_server_error) fault.is_of_schema = false;
  co_return fault;
}

/// All of one database, or nothing.
weft::task<void> write_database(store::engine& engine, write_batch& batch) {
  bool has_looked = false;
  for (int i = 0; i < attempts; ++i) {
    const store::catalog_ref schema = engine.schema();
    const bool is_right = batch.plan(*schema);
    if (batch.unknown()) {
      const auto fault = co_await look_again(engine, *batch.unknown(), schema, has_looked);
      if (!fault) continue;
      if (!fault->is_of_schema) co_return batch.fail(*fault);
    }
    if (!is_right) co_return;
    const auto done = co_await engine.write(batch.start(), batch);
    if (!done) co_return batch.fail(not_done(done.error(), "written"));
    if (!batch.is_outdated()) co_return batch.settle();
  }
  batch.fail(outdated());
}

/// No parameter is empty, and an empty name is a fault to be told.
constexpr std::string_view paths_without_a_name[] = {"//{table}", "/{db}/", "//"};

/// What `parameter` of the path stands for; empty: there is none.
std::expected<std::string_view, api_fault> name_in_path(const http::exchange& e,
                                                        std::string_view parameter,
                                                        request_memory& memory) {
  const std::string_view sent = e.request().parameter(parameter).value_or(std::string_view{});
  if (!sent.contains('%')) return sent;
  const auto decoded = http::percent_decode(sent);
  if (!decoded || !weft::is_utf8(*decoded))
    return std::unexpected{
        bad_request(weft::format("identifier carries an invalid character: {} in the path is no "
                                 "UTF-8 that is percent-encoded",
                                 sent))};
  return memory.room.copy(*decoded);
}

struct table_path {
  std::string_view database;
  std::string_view table;
};

std::expected<table_path, api_fault> table_in_path(const http::exchange& e,
                                                   request_memory& memory) {
  const auto database = name_in_path(e, "db", memory);
  if (!database) return std::unexpected{database.error()};
  const auto table = name_in_path(e, "table", memory);
  if (!table) return std::unexpected{table.error()};
  if (const auto fine = check_names(*database, *table); !fine) return std::unexpected{fine.error()};
  return table_path{*database, *table};
}

/// Of a batch that has been checked.
template <class Operations>
checked allows_all(const permit& who, right wanted, const Operations& asked) {
  if (who.is_for_all()) return {};
  for (const auto& each : asked)
    if (auto fine = who.allows(wanted, split_path(each.relative_url->view())->database); !fine)
      return fine;
  return {};
}

api_fault not_scanned(weft::error why) {
  if (why == weft::errc::invalid_argument)
    return bad_request("[Scan] Invalid continuation: it is of another scan, or of none");
  return not_done(why, "scanned");
}

class one_row final : public store::read_sink {
 public:
  one_row(const store::key_read& asked, std::string_view id, request_memory& memory) noexcept
      : asked_{asked}, id_{id}, memory_{memory}, reply_{memory.reply} {}

  [[nodiscard]] http::status code() const noexcept { return code_; }
  [[nodiscard]] bool is_outdated() const noexcept { return is_outdated_; }
  [[nodiscard]] const std::optional<api_fault>& failure() const noexcept { return failure_; }

 private:
  void row(std::size_t /*operation*/, std::span<const store::value> values) override {
    begin(R"({"code":200,"operationId":)");
    append_data(*asked_.from, asked_.columns, values, reply_);
    reply_ += '}';
  }
  void long_row(std::size_t operation, std::span<const store::value> values,
                weft::memory_reservation memory) override {
    const std::size_t size = row_head_max + data_size_max(*asked_.from, asked_.columns, values);
    if (memory_.make_room(size, std::move(memory)))
      row(operation, values);
    else
      failure_ = memory_.why_no_room();
  }
  void missing(std::size_t /*operation*/) override {
    code_ = http::status::not_found;
    begin(R"({"code":404,"operationId":)");
    reply_ += "{}}";
  }
  void failed(std::size_t /*operation*/, const store::failure& why) override {
    if (why.kind == store::failure_kind::schema_changed)
      is_outdated_ = true;
    else
      failure_ = fault_of(why);
  }
  void begin(std::string_view start) {
    reply_ = start;
    append_text(id_, reply_);
    reply_ += R"(,"data":)";
  }

  const store::key_read& asked_;
  std::string_view id_;
  request_memory& memory_;
  std::string& reply_;
  http::status code_ = http::status::ok;
  bool is_outdated_ = false;
  std::optional<api_fault> failure_;
};

/// No reply takes more than a quarter of what all clients may be given.
row_api_options within_memory(row_api_options given) {
  const std::size_t all = weft::event_loop::current().memory().budget().limit();
  given.reply_bytes = std::min(given.reply_bytes, all / 4);
  given.scan_bytes = std::min(given.scan_bytes, all / 4);
  return given;
}

}  // namespace

row_api::row_api(row_api_options options, http::server& server, store::engine& engine,
                 access& doors, reply_compression& compression)
    : options_{within_memory(options)},
      limits_{.operation_id_bytes = options.operation_id_bytes},
      doors_{doors},
      engine_{engine} {
  add_routes(server, compression, api_version::v0_1_0);
  add_routes(server, compression, api_version::v0_2_0);
}

void row_api::add_routes(http::server& server, reply_compression& compression, api_version spoken) {
  auto api = server.group(prefix_of(spoken))
                 .within({.body_bytes = options_.request_bytes})
                 .taking_bodies_if([this](const http::header_list& fields) {
                   return doors_.may_send_body(fields);
                 });
  auto long_api = compression.around(api);
  const auto read_row = [this, spoken](http::exchange& e) {
    e.work.emplace(serve_or_refuse(e, spoken, answer_row(e, spoken)));
  };
  const auto scan = [this, spoken](http::exchange& e) {
    e.end_within(options_.scan_timeout);
    e.work.emplace(serve_or_refuse(e, spoken, answer_scan(e, spoken)));
  };
  api.post("/{db}/{table}/pk-read",
           http::described(read_row, guarded(doors_, spoken, describe_row_read(spoken))));
  long_api.post("/{db}/{table}/scan",
                http::described(scan, guarded(doors_, spoken, describe_scan(spoken))));
  for (const std::string_view path : paths_without_a_name) {
    api.post(weft::format("{}/pk-read", path), http::described(read_row, {.hidden = true}));
    long_api.post(weft::format("{}/scan", path), http::described(scan, {.hidden = true}));
  }
  long_api.post("/batch", http::described(
                              [this, spoken](http::exchange& e) {
                                e.work.emplace(serve_or_refuse(e, spoken, answer_reads(e, spoken)));
                              },
                              guarded(doors_, spoken, describe_reads(spoken))));
  api.post("/batchwrite", http::described(
                              [this, spoken](http::exchange& e) {
                                e.work.emplace(answer_writes(e, &check_writes, spoken));
                              },
                              guarded(doors_, spoken, describe_writes(spoken))));
  const auto remove = [this, spoken](http::exchange& e) {
    e.work.emplace(answer_writes(e, &check_deletes, spoken));
  };
  api.post("/batchdelete",
           http::described(remove, guarded(doors_, spoken, describe_deletes(spoken))));
  api.del("/batchdelete",
          http::described(remove, guarded(doors_, spoken, describe_deletes(spoken))));
}

weft::task<void> row_api::answer_row(http::exchange& e, api_version spoken) {
  const auto who = doors_.identify(e);
  if (!who) co_return reply(e, who.error(), spoken);
  const auto memory = memories_.take();
  const auto asked = read_document<pk_read_request>(e.request().body(), *memory);
  if (!asked) co_return reply(e, asked.error(), spoken);
  const auto path = table_in_path(e, *memory);
  if (!path) co_return reply(e, path.error(), spoken);
  auto fine = check(*asked, limits_, *memory);
  if (fine) fine = who->allows(right::read, path->database);
  if (!fine) co_return reply(e, fine.error(), spoken);
  const std::string_view id = asked->operationId ? asked->operationId->view() : std::string_view{};
  if (is_unknown(engine_)) [[unlikely]]
    co_return reply(e, not_reachable(), spoken);
  bool has_looked = false;
  for (int i = 0; i < attempts; ++i) {
    const store::catalog_ref schema = engine_.schema();
    const auto plan = plan_read(*schema, path->database, path->table, *asked, *memory);
    if (!plan) {
      if (const auto fault = co_await look_again(engine_, plan.error(), schema, has_looked))
        co_return reply(e, *fault, spoken);
      continue;
    }
    one_row found{*plan, id, *memory};
    const auto done = co_await engine_.read({&*plan, 1}, found);
    if (!done) co_return reply(e, not_done(done.error(), "read"), spoken);
    if (found.failure()) co_return reply(e, *found.failure(), spoken);
    if (!found.is_outdated()) co_return memory->send_row(e, found.code(), spoken);
  }
  reply(e, outdated(), spoken);
}

weft::task<void> row_api::answer_scan(http::exchange& e, api_version spoken) {
  const auto who = doors_.identify(e);
  if (!who) co_return reply(e, who.error(), spoken);
  const auto memory = memories_.take();
  const auto asked = read_document<scan_request>(e.request().body(), *memory);
  if (!asked) co_return reply(e, asked.error(), spoken);
  const auto path = table_in_path(e, *memory);
  if (!path) co_return reply(e, path.error(), spoken);
  auto fine = check(*asked, *memory);
  if (fine) fine = who->allows(right::read, path->database);
  if (!fine) co_return reply(e, fine.error(), spoken);
  if (is_unknown(engine_)) [[unlikely]]
    co_return reply(e, not_reachable(), spoken);
  bool has_looked = false;
  for (int i = 0; i < attempts; ++i) {
    const store::catalog_ref schema = engine_.schema();
    auto plan = plan_scan(*schema, path->database, path->table, *asked, *memory);
    if (!plan) {
      if (const auto fault = co_await look_again(engine_, plan.error(), schema, has_looked))
        co_return reply(e, *fault, spoken);
      continue;
    }
    plan->limit = std::min(plan->limit, options_.scan_rows);
    scan_reply rows{*plan, options_.scan_bytes, *memory};
    const auto rest = co_await engine_.scan(*plan, rows);
    if (!rest) co_return reply(e, not_scanned(rest.error()), spoken);
    if (rows.failure()) co_return reply(e, *rows.failure(), spoken);
    if (rows.is_outdated()) continue;
    rows.finish(*rest);
    co_return co_await memory->send_all(e, http::status::ok);
  }
  reply(e, outdated(), spoken);
}

weft::task<void> row_api::answer_reads(http::exchange& e, api_version spoken) {
  const auto who = doors_.identify(e);
  if (!who) co_return reply(e, who.error(), spoken);
  const auto memory = memories_.take();
  memory->operations_max = options_.batch_operations;
  const auto asked = read_document<batch_read_request>(e.request().body(), *memory);
  if (!asked) co_return reply(e, asked.error(), spoken);
  auto fine = check_reads(*asked, limits_, *memory);
  if (fine) fine = allows_all(*who, right::read, *asked->operations);
  if (!fine) co_return reply(e, fine.error(), spoken);
  if (is_unknown(engine_)) [[unlikely]]
    co_return reply(e, not_reachable(), spoken);
  bool has_looked = false;
  for (int i = 0; i < attempts; ++i) {
    const store::catalog_ref schema = engine_.schema();
    read_batch reads{*schema, *asked->operations, options_.reply_bytes, *memory, spoken};
    if (const api_fault* const unknown = reads.unknown()) {
      const auto fault = co_await look_again(engine_, *unknown, schema, has_looked);
      if (!fault) continue;
      if (!fault->is_of_schema) co_return reply(e, *fault, spoken);
    }
    const auto done = co_await engine_.read(reads.plans(), reads);
    if (!done) co_return reply(e, not_done(done.error(), "read"), spoken);
    if (reads.failure()) co_return reply(e, *reads.failure(), spoken);
    if (reads.is_outdated()) continue;
    reads.finish();
    co_return co_await memory->send_all(e, http::status::ok);
  }
  reply(e, outdated(), spoken);
}

weft::task<void> row_api::answer_writes(http::exchange& e, judge check, api_version spoken) {
  bool may_be_done = false;
  try {
    const auto who = doors_.identify(e);
    if (!who) co_return reply(e, who.error(), spoken);
    const auto memory = memories_.take();
    memory->operations_max = options_.batch_operations;
    const auto asked = read_document<batch_write_request>(e.request().body(), *memory);
    if (!asked) co_return reply(e, asked.error(), spoken);
    auto fine = check(*asked, limits_, *memory);
    if (fine) fine = allows_all(*who, right::write, *asked->operations);
    if (!fine) co_return reply(e, fine.error(), spoken);
    if (is_unknown(engine_)) [[unlikely]]
      co_return reply(e, not_reachable(), spoken);
    write_batch writes{*asked->operations, *memory, spoken};
    try {
      while (writes.enter_next_database()) co_await write_database(engine_, writes);
    } catch (...) {
      may_be_done = writes.has_started();
      throw;
    }
    may_be_done = writes.has_started();
    if (const api_fault* const why = writes.failure()) co_return reply(e, *why, spoken);
    writes.finish();
    co_return memory->send(e, http::status::ok);
  } catch (const std::bad_alloc&) {
    if (e.replied()) throw;
  }
  reply(e, may_be_done ? outcome_unknown() : nothing_written(), spoken);
}

}  // namespace weftd

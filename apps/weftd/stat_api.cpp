#include <apps/weftd/stat_api.hpp>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <apps/weftd/access.hpp>
#include <apps/weftd/api_description.hpp>
#include <weft/http/server.hpp>
#include <weft/json/write.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/store/engine.hpp>
#include <weft/telemetry/registry.hpp>

namespace weftd {

namespace http = weft::http;
namespace telemetry = weft::telemetry;

struct database_stat {
  std::string name;
  std::uint64_t tables;
};
struct http_stat {
  std::int64_t connections;
  std::int64_t connectionsAccepted;
  std::int64_t connectionsRefused;
  std::int64_t replies;
  std::int64_t repliesOfServerFaults;
  std::int64_t receivedBytes;
  std::int64_t replyBodyBytes;

  static constexpr weft::json::description descriptions[] = {
      {"connections", "Open now"},
      {"connectionsRefused", "Beyond the limit"},
      {"repliesOfServerFaults", "Of status 500 and above"}};
};
struct latency_stat {
  std::int64_t count;
  std::int64_t p50Us;
  std::int64_t p99Us;
  std::int64_t maxUs;
};
struct connection_stat {
  std::int64_t open;
  std::int64_t opened;
  std::int64_t failed;
  std::int64_t lost;
  std::int64_t serversGivenUp;
  latency_stat waits;

  static constexpr weft::json::description descriptions[] = {
      {"", "To the servers that have the rows, over all shards"},
      {"failed", "Attempts to connect"},
      {"serversGivenUp", "For the next of those that were named"},
      {"waits", "Until one came free"}};
};
struct store_stat {
  std::string engine;
  bool reachable;
  std::optional<connection_stat> connections;
  latency_stat readTimes;
  latency_stat writeTimes;
  latency_stat queryTimes;
  std::int64_t readsInMemory;
  std::int64_t readsElsewhere;
  std::int64_t rowsRead;
  std::int64_t readTransactions;
  std::int64_t statementsPrepared;
  std::int64_t rowsScanned;
  std::int64_t rowsWritten;
  std::int64_t commits;
  std::int64_t writeBatchesWaiting;
  std::int64_t schemaChanges;
  std::map<std::string, std::int64_t> failures;

  static constexpr weft::json::description descriptions[] = {
      {"", "What the shards' engines have done since the program began"},
      {"engine", "sqlite, or mysql: whoever speaks its protocol"},
      {"reachable", "Whether this shard's rows are to be had now"},
      {"readTimes", "Of batches of look-ups that were made elsewhere"},
      {"writeTimes", "Until a batch was durable"},
      {"readsInMemory", "Look-ups by key that the shards made"},
      {"readsElsewhere", "And those that threads made which may wait for the disk, or a server"},
      {"rowsRead", "Look-ups that found a row"},
      {"statementsPrepared", "Look-ups whose statement was not kept ready"},
      {"writeBatchesWaiting", "Until they are durable, now"},
      {"failures", "What was not done, by why"}};
};
struct memory_stat {
  std::int64_t coroutineFrames;
  std::int64_t frameBytes;
  std::int64_t receiveBuffers;

  static constexpr weft::json::description descriptions[] = {
      {"", "What the loops hold"}, {"receiveBuffers", "Of 4 KiB each, lent out"}};
};
struct server_stat {
  std::string version;
  std::int64_t uptimeSeconds;
  std::uint64_t shards;
  std::vector<database_stat> databases;
  http_stat http;
  store_stat store;
  memory_stat memory;

  static constexpr weft::json::description descriptions[] = {
      {"", "What the server holds and has done; /metrics has the same numbers and more"},
      {"version", "Of weftd"}};
};

namespace {

/// Over all shards; 0 where nobody counts it.
class numbers {
 public:
  explicit numbers(telemetry::snapshot seen) : seen_{std::move(seen)} {}

  [[nodiscard]] std::int64_t of(std::string_view name,
                                std::initializer_list<telemetry::label> labels = {}) const {
    const telemetry::series* const found = seen_.find(name, labels);
    return found == nullptr ? 0 : found->value;
  }
  [[nodiscard]] bool are_of(std::string_view name) const { return seen_.find(name) != nullptr; }
  /// Of a histogram in nanoseconds.
  [[nodiscard]] latency_stat latency(std::string_view name) const {
    const telemetry::series* const found = seen_.find(name);
    if (found == nullptr) return {};
    const auto us = [](std::uint64_t ns) { return static_cast<std::int64_t>(ns / 1'000); };
    return {.count = found->value,
            .p50Us = us(found->values.percentile(50)),
            .p99Us = us(found->values.percentile(99)),
            .maxUs = us(found->values.max())};
  }
  [[nodiscard]] std::int64_t replies(std::string_view status_class) const {
    return of("http_replies_total", {{"class", status_class}});
  }
  /// Of the series of this name, what is not 0, by the value of their only label.
  [[nodiscard]] std::map<std::string, std::int64_t> by_label(std::string_view name) const {
    std::map<std::string, std::int64_t> all;
    for (const telemetry::series& each : seen_.all)
      if (each.name == name && each.value != 0) all[each.labels.front().second] = each.value;
    return all;
  }
  [[nodiscard]] std::uint64_t shards() const {
    const telemetry::series* const turns = seen_.find("loop_turns_total");
    return turns == nullptr ? 1 : turns->by_shard.size();
  }

 private:
  telemetry::snapshot seen_;
};

http_stat http_of(const numbers& seen) {
  std::int64_t replies = 0;
  for (const std::string_view each : {"1xx", "2xx", "3xx", "4xx", "5xx"})
    replies += seen.replies(each);
  return {.connections = seen.of("http_connections"),
          .connectionsAccepted = seen.of("http_connections_total"),
          .connectionsRefused = seen.of("http_connections_refused_total"),
          .replies = replies,
          .repliesOfServerFaults = seen.replies("5xx"),
          .receivedBytes = seen.of("http_received_bytes_total"),
          .replyBodyBytes = seen.of("http_reply_body_bytes_total")};
}

/// None of an engine that has the rows itself.
std::optional<connection_stat> connections_of(const numbers& seen) {
  if (!seen.are_of("store_connections_open")) return std::nullopt;
  return connection_stat{.open = seen.of("store_connections_open"),
                         .opened = seen.of("store_connections_opened_total"),
                         .failed = seen.of("store_connect_failures_total"),
                         .lost = seen.of("store_connections_lost_total"),
                         .serversGivenUp = seen.of("store_servers_given_up_total"),
                         .waits = seen.latency("store_connection_wait_ns")};
}

store_stat store_of(const numbers& seen, bool is_reachable) {
  const auto connections = connections_of(seen);
  return {.engine = connections ? "mysql" : "sqlite",
          .reachable = is_reachable,
          .connections = connections,
          .readTimes = seen.latency("store_read_wait_ns"),
          .writeTimes = seen.latency("store_write_wait_ns"),
          .queryTimes = seen.latency("store_query_duration_ns"),
          .readsInMemory = seen.of("store_reads_total", {{"by", "shard"}}),
          .readsElsewhere = seen.of("store_reads_total", {{"by", "thread"}}) +
                            seen.of("store_reads_total", {{"by", "server"}}),
          .rowsRead = seen.of("store_rows_read_total"),
          .readTransactions = seen.of("store_read_transactions_total"),
          .statementsPrepared = seen.of("store_statements_prepared_total"),
          .rowsScanned = seen.of("store_scan_rows_total"),
          .rowsWritten = seen.of("store_writes_total"),
          .commits = seen.of("store_commits_total"),
          .writeBatchesWaiting = seen.of("store_write_batches_waiting"),
          .schemaChanges = seen.of("store_schema_changes_total"),
          .failures = seen.by_label("store_failures_total")};
}

std::vector<database_stat> databases_of(const weft::store::catalog& schema, const permit& found) {
  std::vector<database_stat> all;
  for (const std::string& name : schema.databases())
    if (found.allows(right::read, name)) all.push_back({name, 0});
  for (const auto& each : schema.tables())
    for (database_stat& of : all)
      if (of.name == each->database()) ++of.tables;
  return all;
}

}  // namespace

stat_api::stat_api(http::server& server, weft::store::engine& engine, access& doors,
                   telemetry::registry& metrics, weft::event_loop& loop)
    : engine_{engine}, doors_{doors}, metrics_{metrics}, loop_{loop}, began_{loop.now()} {
  for (const api_version spoken : {api_version::v0_1_0, api_version::v0_2_0})
    server.group(prefix_of(spoken))
        .get("/stat",
             http::described(
                 [this, spoken](http::exchange& e) { answer(e, spoken); },
                 guarded(doors_, spoken,
                         describe(spoken,
                                  {.summary = "What the server holds and has done",
                                   .tag = "operation",
                                   .success = "Of the databases, those that the key may read"},
                                  nullptr, &weft::json::shape_of<server_stat>))));
}

void stat_api::answer(http::exchange& e, api_version spoken) const {
  const auto found = doors_.identify(e);
  if (!found) return reply(e, found.error(), spoken);
  std::string text;
  weft::json::write(read(*found), text);
  e.reply(http::status::ok, "application/json", text);
}

server_stat stat_api::read(const permit& found) const {
  const numbers seen{metrics_.read()};
  return {.version = WEFT_VERSION,
          .uptimeSeconds =
              std::chrono::duration_cast<std::chrono::seconds>(loop_.now() - began_).count(),
          .shards = seen.shards(),
          .databases = databases_of(*engine_.schema(), found),
          .http = http_of(seen),
          .store = store_of(seen, engine_.is_reachable()),
          .memory = {.coroutineFrames = seen.of("loop_live_frames"),
                     .frameBytes = seen.of("loop_frame_bytes"),
                     .receiveBuffers = seen.of("loop_buffers_in_use")}};
}

}  // namespace weftd

#include "store_workload.hpp"

#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <weft/base/random.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/store/sqlite/engine.hpp>
#include <weft/store/sqlite/library.hpp>
#include <weft/telemetry/registry.hpp>

#include "workload_loop.hpp"

namespace weft::bench {
namespace {

constexpr std::int64_t rows = 100'000;

/// Gone with the object, and the database in it.
class temporary_folder {
 public:
  temporary_folder()
      : path_{(std::filesystem::temp_directory_path() / "weft-bench-XXXXXX").string()} {
    if (::mkdtemp(path_.data()) == nullptr) {
      std::perror("weft-bench: no temporary folder");
      std::exit(1);
    }
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

void fill(const std::string& folder, store_key_form key) {
  const std::string sql =
      std::string{"PRAGMA journal_mode=WAL; CREATE TABLE t(id "} +
      (key == store_key_form::int_key ? "INT" : "INTEGER") +
      " PRIMARY KEY, a INT, b VARCHAR(50)); INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 0 UNION "
      "ALL SELECT x+1 FROM c WHERE x<" +
      std::to_string(rows - 1) + ") SELECT x,x*2,'value '||x FROM c";
  store::sqlite::prepare_library();
  sqlite3* database = nullptr;
  const bool is_filled =
      sqlite3_open((folder + "/bench.db").c_str(), &database) == SQLITE_OK &&
      sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  if (!is_filled) std::fprintf(stderr, "weft-bench: %s\n", sqlite3_errmsg(database));
  sqlite3_close(database);
  if (!is_filled) std::exit(1);
}

/// Checks each row by its second column.
struct checking_sink final : store::read_sink {
  void row(std::size_t operation, std::span<const store::value> values) override {
    right += values[0].as_integer() == 2 * keys[operation].as_integer() ? 1 : 0;
    bytes += values[1].as_text().size();
  }
  void missing(std::size_t) override {}
  void failed(std::size_t, const store::failure&) override {}

  std::vector<store::value> keys;
  std::uint64_t right = 0;
  std::uint64_t bytes = 0;
};

task<void> look_up(store::sqlite::engine& in, event_loop& loop, const workload_options& options,
                   workload_share& done) {
  const store::catalog_ref schema = in.schema();
  const store::table* const from = schema->find("bench", "t");
  const std::vector<store::column_position> columns{1, 2};
  random draw{17};
  checking_sink sink;
  sink.keys.resize(options.batch);
  std::vector<store::key_read> batch;
  batch.reserve(sink.keys.size());
  for (const store::value& key : sink.keys) batch.push_back({from, {&key, 1}, columns});
  while (done.dispatched < options.count) {
    const std::size_t size =
        std::min<std::uint64_t>(options.batch, options.count - done.dispatched);
    for (std::size_t i = 0; i < size; ++i)
      sink.keys[i] = store::value::integer(static_cast<std::int64_t>(draw.below(rows)));
    done.is_right = (co_await in.read({batch.data(), size}, sink)).has_value() && done.is_right;
    done.dispatched += size;
    // Each batch has a turn of its own, and so a transaction.
    (void)co_await sleep_until{loop, time_point::min()};
  }
  done.is_right = done.is_right && sink.right == done.dispatched;
}

task<void> run_engine(const std::string& folder, event_loop& loop, const workload_options& options,
                      workload_share& done) {
  static constexpr std::string_view name = "bench";
  lifetime own{name};
  telemetry::registry metrics;
  store::sqlite::engine engine{{.directory = folder}, loop, own, metrics.shard(0)};
  done.is_right = (co_await engine.start()).has_value();
  if (done.is_right) co_await look_up(engine, loop, options, done);
  own.request_end();
  co_await own.ended();
}

}  // namespace

workload_share run_look_ups(const workload_options& options) {
  const temporary_folder folder;
  fill(folder.path(), options.key);
  workload_share done;
  const auto loop = make_workload_loop();
  loop->spawn(run_engine(folder.path(), *loop, options, done));
  loop->run();
  return done;
}

}  // namespace weft::bench

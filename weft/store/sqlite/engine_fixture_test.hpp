// What the tests of this engine share: a folder of databases, a loop with an engine, and a sink
// that writes down what it is told.
//
//   make_database("shop", "CREATE TABLE orders(id INT PRIMARY KEY, price DECIMAL(10,2))");
//   run([&](engine& shop) -> task<void> { EXPECT_EQ(co_await look_up(shop, ...), "..."); });
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <weft/loop/loop_fixture_test.hpp>
#include <weft/store/convert.hpp>
#include <weft/store/json_value.hpp>
#include <weft/store/sqlite/engine.hpp>
#include <weft/store/sqlite/library.hpp>
#include <weft/telemetry/registry.hpp>

namespace weft::store::sqlite {

/// "[17,\"abc\"] - !schema_changed": rows, what is missing, what failed.
class noting_sink final : public read_sink {
 public:
  explicit noting_sink(std::span<const key_read> of) : of_{of} {}

  void row(std::size_t operation, std::span<const value> values) override {
    const key_read& read = begin(operation);
    EXPECT_EQ(values.size(), read.columns.size());
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != 0) text_ += ',';
      append_json(values[i], read.from->columns()[read.columns[i]], text_);
    }
    text_ += ']';
  }
  void missing(std::size_t operation) override {
    begin(operation);
    text_ += '-';
  }
  void failed(std::size_t operation, const failure& why) override {
    begin(operation);
    text_ += '!';
    text_ += why.message;
    last_kind = why.kind;
  }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  failure_kind last_kind = failure_kind::other;

 private:
  const key_read& begin(std::size_t operation) {
    EXPECT_EQ(operation, told_++) << "in order, and each once";
    if (!text_.empty()) text_ += ' ';
    return of_[operation];
  }

  std::span<const key_read> of_;
  std::size_t told_ = 0;
  std::string text_;
};

/// All blocks of SQLite's that this thread keeps for it, so that it has to ask for others.
class hoard {
 public:
  hoard() {
    blocks_.reserve(2'000);
    for (int size = 64; size <= 1024; size += 64)
      for (int i = 0; i < 40; ++i) blocks_.push_back(sqlite3_malloc(size));
  }
  hoard(const hoard&) = delete;
  hoard& operator=(const hoard&) = delete;
  ~hoard() {
    for (void* const each : blocks_) sqlite3_free(each);
  }

 private:
  std::vector<void*> blocks_;
};

/// An empty one, for temporary files.
[[nodiscard]] std::string make_folder();
void remove_folder(const std::string& path);

class engine_fixture : public ::testing::TestWithParam<backend_kind> {
 protected:
  void SetUp() override {
    folder_ = make_folder();
    options_.directory = folder_;
    prepare_library();
    metrics_.emplace();
    auto made = event_loop::create({.backend = GetParam()});
    if (!made) GTEST_SKIP() << "no such backend here";
    loop_ = std::move(*made);
  }
  void TearDown() override {
    loop_.reset();
    remove_folder(folder_);
  }

  [[nodiscard]] std::string path_of(const std::string& database) const {
    return folder_ + "/" + database + ".db";
  }

  /// As another program would.
  void run_sql(const std::string& database, const std::string& sql) const {
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path_of(database).c_str(), &other), SQLITE_OK);
    char* why = nullptr;
    EXPECT_EQ(sqlite3_exec(other, sql.c_str(), nullptr, nullptr, &why), SQLITE_OK)
        << (why != nullptr ? why : "") << ": " << sql;
    sqlite3_free(why);
    sqlite3_close(other);
  }
  void make_database(const std::string& name, const std::string& sql) const {
    run_sql(name, "PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL;" + sql);
  }

  /// Runs `body` with an engine that has started, and ends it.
  template <class Body>
  void run(Body body) {
    static constexpr std::string_view name = "store.sqlite.engine";
    lifetime own{name};
    metrics_.emplace();
    {
      engine tried{options_, *loop_, own, metrics_->shard(0)};
      loop_->spawn(live(tried, own, body));
      loop_->run();
    }
  }

  template <class Body>
  static task<void> live(engine& tried, lifetime& own, Body& body) {
    const auto started = co_await tried.start();
    EXPECT_TRUE(started) << started.error().message();
    if (started) co_await body(tried);
    own.request_end();
    co_await own.ended();
  }

  /// Of the engine that runs, or has run last; -1: there is no such series.
  [[nodiscard]] std::int64_t counted(std::string_view series,
                                     std::initializer_list<telemetry::label> labels = {}) const {
    const telemetry::snapshot seen = metrics_->read();
    const telemetry::series* const found = seen.find(series, labels);
    return found == nullptr ? -1 : found->value;
  }

  task<void> next_turn() { EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{1})); }

  /// The row of the key, or all its columns but the key's where none are named.
  static task<std::string> look_up(engine& in, std::string_view database, std::string_view from,
                                   std::vector<value> key,
                                   std::vector<std::string_view> names = {}) {
    const catalog_ref schema = in.schema();
    const table* const found = schema->find(database, from);
    if (found == nullptr) co_return "no table";
    std::vector<column_position> columns;
    for (const std::string_view each : names) columns.push_back(found->find(each).value());
    if (names.empty()) columns.assign(found->values().begin(), found->values().end());
    const key_read operation{found, key, columns};
    noting_sink sink{{&operation, 1}};
    const auto read = co_await in.read({&operation, 1}, sink);
    co_return read ? sink.text() : read.error().message();
  }

  std::string folder_;
  engine_options options_;
  std::unique_ptr<event_loop> loop_;
  std::optional<telemetry::registry> metrics_;  // of the run
};

}  // namespace weft::store::sqlite

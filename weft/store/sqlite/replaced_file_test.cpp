// A database's file is replaced while one reply is made: no reply has rows of two files.
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/loop/make_backend.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

namespace files = std::filesystem;

constexpr int rows_of_a_file = 1'000;

/// Notes which file each row is of, and lets something happen with the first.
class scanned_rows final : public scan_sink {
 public:
  explicit scanned_rows(std::function<void()> at_first) : at_first_{std::move(at_first)} {}
  std::set<std::string> seen;
  std::size_t count = 0;
  std::string failure_text;

 private:
  void row(std::span<const value> values) override {
    seen.emplace(values[0].as_text());
    if (count++ == 0) at_first_();
  }
  void failed(const failure& why) override { failure_text = why.message; }

  std::function<void()> at_first_;
};

/// The same, of a batch, which gives way behind each row.
class read_rows final : public read_sink {
 public:
  explicit read_rows(std::function<void()> at_first) : at_first_{std::move(at_first)} {}
  std::set<std::string> seen;
  std::size_t count = 0;
  std::set<std::string> failures;

 private:
  void row(std::size_t, std::span<const value> values) override {
    seen.emplace(values[0].as_text());
    if (count++ == 0) at_first_();
  }
  void missing(std::size_t) override { ADD_FAILURE() << "each row is there"; }
  void failed(std::size_t, const failure& why) override { failures.emplace(why.message); }
  [[nodiscard]] bool is_turn_over() override { return true; }

  std::function<void()> at_first_;
};

class replaced_file : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    make(path_of("d"), "old");
    make(folder_ + "/next", "new");
  }
  static void make(const std::string& path, const std::string& of) {
    sqlite3* made = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &made), SQLITE_OK);
    const std::string sql =
        "CREATE TABLE t(id INTEGER PRIMARY KEY, f TEXT); INSERT INTO t WITH RECURSIVE c(x) AS "
        "(SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<" +
        std::to_string(rows_of_a_file) + ") SELECT x,'" + of + "' FROM c";
    EXPECT_EQ(sqlite3_exec(made, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(made);
  }
  void replace() const { files::rename(folder_ + "/next", path_of("d")); }
};
INSTANTIATE_TEST_SUITE_P(sqlite, replaced_file,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

constexpr std::string_view replaced = "was replaced while its rows were read";

TEST_P(replaced_file, a_scan_has_rows_of_one_file) {
  run([&](engine& of) -> task<void> {
    const catalog_ref schema = of.schema();
    const table* const t = schema->find("d", "t");
    const std::vector<column_position> columns{1};
    scanned_rows sink{[this] { replace(); }};
    auto scanned = co_await of.scan({.from = t, .columns = columns, .limit = rows_of_a_file}, sink);
    EXPECT_TRUE(scanned);
    EXPECT_EQ(sink.seen, std::set<std::string>{"old"});
    EXPECT_LT(sink.count, std::size_t{rows_of_a_file});
    EXPECT_TRUE(sink.failure_text.contains(replaced)) << sink.failure_text;
    scanned_rows again{[] {}};
    const catalog_ref now = of.schema();
    EXPECT_TRUE(co_await of.scan(
        {.from = now->find("d", "t"), .columns = columns, .limit = rows_of_a_file}, again));
    EXPECT_EQ(again.seen, std::set<std::string>{"new"});
    EXPECT_EQ(again.count, std::size_t{rows_of_a_file});
  });
}

TEST_P(replaced_file, a_batch_has_rows_of_one_file) {
  run([&](engine& of) -> task<void> {
    const catalog_ref schema = of.schema();
    const table* const t = schema->find("d", "t");
    const std::vector<column_position> columns{1};
    std::vector<value> keys;
    for (int i = 1; i <= 20; ++i) keys.push_back(value::integer(i));
    std::vector<key_read> operations;
    for (const value& key : keys) operations.push_back({t, {&key, 1}, columns});
    read_rows sink{[this] { replace(); }};
    EXPECT_TRUE(co_await of.read(operations, sink));
    EXPECT_EQ(sink.seen, std::set<std::string>{"old"});
    EXPECT_EQ(sink.failures.size(), 1U);
    EXPECT_TRUE(sink.failures.begin()->contains(replaced));
    read_rows again{[] {}};
    EXPECT_TRUE(co_await of.read(operations, again));
    EXPECT_EQ(again.seen, std::set<std::string>{"new"});
    EXPECT_EQ(again.count, operations.size());
  });
}

/// Whoever may write to the folder must not keep a shard for ever.
TEST_P(replaced_file, a_fifo_of_a_journals_name_keeps_nobody) {
  EXPECT_EQ(::mkfifo((path_of("d") + "-journal").c_str(), 0600), 0);
  run([&](engine& of) -> task<void> {
    const catalog_ref schema = of.schema();
    if (const table* const t = schema->find("d", "t")) {
      const value key = value::integer(1);
      const std::vector<column_position> columns{1};
      const std::vector<key_read> operations{{t, {&key, 1}, columns}};
      read_rows sink{[] {}};
      EXPECT_TRUE(co_await of.read(operations, sink));
      EXPECT_EQ(sink.count + sink.failures.size(), 1U);
    }
    co_return;
  });
}

}  // namespace
}  // namespace weft::store::sqlite

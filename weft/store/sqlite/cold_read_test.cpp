// Pages that are really not in memory: read on other threads, and warm afterwards.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/when_all.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/store/sqlite/storage.hpp>

namespace weft::store::sqlite {
namespace {

/// Takes the file's pages out of the system's memory, and says whether they have gone.
bool make_cold(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ::fsync(file);
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  const auto size = static_cast<std::size_t>(::lseek(file, 0, SEEK_END));
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  std::vector<unsigned char> pages((size + 4095) / 4096);
  const bool seen = ::mincore(mapped, size, pages.data()) == 0;
  ::munmap(mapped, size);
  ::close(file);
  std::size_t warm = 0;
  for (const unsigned char each : pages) warm += each & 1U;
  return seen && warm < pages.size() / 2;
}

/// Whether the file is out of memory, and a read would say so.
bool can_be_cold(const std::string& path) {
  if (!make_cold(path)) return false;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  const iovec piece{.iov_base = &byte, .iov_len = 1};
  const ssize_t got = ::preadv2(file, &piece, 1, 2'000'000, RWF_NOWAIT);
  const int why = errno;
  ::close(file);
  return got < 0 && why == EAGAIN;
}

/// 4000 rows, each of which has a page of its own.
constexpr const char* thick_rows =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT);"
    "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<4000)"
    " SELECT x,x*2,hex(zeroblob(1700)) FROM c; PRAGMA wal_checkpoint(TRUNCATE)";

class cold_read : public engine_fixture {
 protected:
  /// Every 40th row; how many were found as they should be.
  static task<std::size_t> read_some(engine& in) {
    const catalog_ref schema = in.schema();
    const table* const t = schema->find("d", "t");
    std::vector<value> keys;
    for (int i = 1; i <= 4000; i += 40) keys.push_back(value::integer(i));
    const std::vector<column_position> columns{0, 1, 2};
    std::vector<key_read> operations;
    for (const value& key : keys) operations.push_back({t, {&key, 1}, columns});
    struct sink final : read_sink {
      void row(std::size_t, std::span<const value> values) override {
        if (values[1].as_integer() == 2 * values[0].as_integer() &&
            values[2].as_text() == std::string(3400, '0'))
          ++right;
      }
      void missing(std::size_t) override {}
      void failed(std::size_t, const failure& why) override { ADD_FAILURE() << why.message; }
      std::size_t right = 0;
    } found;
    EXPECT_TRUE(co_await in.read(operations, found));
    co_return found.right;
  }
};
INSTANTIATE_TEST_SUITE_P(sqlite, cold_read,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

TEST_P(cold_read, is_made_elsewhere_and_warms_the_next) {
  make_database("d", thick_rows);
  if (!can_be_cold(path_of("d"))) GTEST_SKIP() << "no page can be seen to be cold here";
  run([&](engine& thick) -> task<void> {
    EXPECT_EQ(co_await read_some(thick), 100U);
    const auto cold = counted("store_reads_total", {{"by", "thread"}});
    EXPECT_GT(cold, 0);
    EXPECT_EQ(cold + counted("store_reads_total", {{"by", "shard"}}), 100);
    EXPECT_EQ(counted("store_rows_read_total"), 100);
    EXPECT_GT(counted("store_read_wait_ns"), 0);
    // The system may need the memory for others meanwhile; it does not always.
    bool is_warm = false;
    for (int attempt = 0; attempt < 50 && !is_warm; ++attempt) {
      const auto before = counted("store_reads_total", {{"by", "thread"}});
      EXPECT_EQ(co_await read_some(thick), 100U);
      is_warm = counted("store_reads_total", {{"by", "thread"}}) == before;
    }
    EXPECT_TRUE(is_warm);
  });
}

/// Else each of 32 would keep 2 MiB for ever, which no budget counts.
TEST_P(cold_read, a_reader_keeps_no_pages_while_it_has_nothing_to_do) {
  make_database("d", thick_rows);
  auto files = storage::open(options_, takes_lock::no);
  ASSERT_TRUE(files) << files.error();
  const auto cached_bytes = [](connection& of) {
    int now = 0;
    int most = 0;
    EXPECT_EQ(sqlite3_db_status(of.get(), SQLITE_DBSTATUS_CACHE_USED, &now, &most, 0), SQLITE_OK);
    return now;
  };
  {
    auto reader = (*files)->reader("d");
    ASSERT_TRUE(reader) << reader.error();
    EXPECT_TRUE((*reader)->number("SELECT sum(length(b)) FROM t"));
    EXPECT_GT(cached_bytes(**reader), 200'000) << "nothing is to be shown then";
    EXPECT_LT(cached_bytes(**reader), 1'000'000);
  }
  auto again = (*files)->reader("d");
  ASSERT_TRUE(again) << again.error();
  EXPECT_LT(cached_bytes(**again), 50'000);
}

TEST_P(cold_read, waits_for_another_program_elsewhere) {
  run_sql("d", "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT); INSERT INTO t VALUES(1,2)");
  options_.busy_timeout = std::chrono::milliseconds{1};
  run([&](engine& plain) -> task<void> {
    EXPECT_EQ(co_await look_up(plain, "d", "t", {value::integer(1)}, {"a"}), "[2]");
    EXPECT_EQ(counted("store_reads_total", {{"by", "thread"}}), 0);
    co_await next_turn();
    sqlite3* other = nullptr;
    EXPECT_EQ(sqlite3_open(path_of("d").c_str(), &other), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
    const std::string told = co_await look_up(plain, "d", "t", {value::integer(1)}, {"a"});
    EXPECT_TRUE(told.starts_with("!") && told.contains("another program writes to it")) << told;
    EXPECT_EQ(counted("store_reads_total", {{"by", "thread"}}), 1);
    EXPECT_EQ(counted("store_failures_total", {{"kind", "busy"}}), 1);
    sqlite3_close(other);
    EXPECT_EQ(co_await look_up(plain, "d", "t", {value::integer(1)}, {"a"}), "[2]");
    EXPECT_EQ(counted("store_reads_total", {{"by", "thread"}}), 1);
  });
}

TEST_P(cold_read, keeps_a_database_that_another_program_holds) {
  run_sql("d", "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT); INSERT INTO t VALUES(1,2)");
  run_sql("e", "CREATE TABLE t(id INTEGER PRIMARY KEY)");
  options_.busy_timeout = std::chrono::hours{1};
  run([&](engine& plain) -> task<void> {
    sqlite3* other = nullptr;
    EXPECT_EQ(sqlite3_open(path_of("d").c_str(), &other), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
    EXPECT_TRUE(co_await plain.refresh()) << "which waits for nobody";
    run_sql("e", "ALTER TABLE t ADD COLUMN b INT");
    EXPECT_TRUE(co_await plain.refresh());
    EXPECT_EQ(co_await look_up(plain, "e", "t", {value::integer(1)}, {"b"}), "-");
    sqlite3_close(other);
    EXPECT_EQ(co_await look_up(plain, "d", "t", {value::integer(1)}, {"a"}), "[2]");
  });
}

TEST_P(cold_read, waits_for_another_program_though_no_statement_is_made_yet) {
  run_sql("d", "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT); INSERT INTO t VALUES(1,2)");
  options_.busy_timeout = std::chrono::milliseconds{1};
  run([&](engine& plain) -> task<void> {
    sqlite3* other = nullptr;
    EXPECT_EQ(sqlite3_open(path_of("d").c_str(), &other), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
    const std::string told = co_await look_up(plain, "d", "t", {value::integer(1)}, {"a"});
    EXPECT_TRUE(told.starts_with("!") && told.contains("another program writes to it")) << told;
    sqlite3_close(other);
    EXPECT_EQ(co_await look_up(plain, "d", "t", {value::integer(1)}, {"a"}), "[2]");
  });
}

TEST_P(cold_read, notices_a_changed_schema) {
  make_database("d", thick_rows);
  run([&](engine& thick) -> task<void> {
    const catalog_ref before = thick.schema();
    run_sql("d", "ALTER TABLE t ADD COLUMN c INT; PRAGMA wal_checkpoint(TRUNCATE)");
    make_cold(path_of("d"));
    EXPECT_EQ(co_await look_up(thick, "d", "t", {value::integer(2000)}, {"a"}),
              "!the table has changed since the request was made: make it again");
    EXPECT_EQ(co_await look_up(thick, "d", "t", {value::integer(2000)}, {"a", "c"}), "[4000,null]");
  });
}

/// While a thread waits for another program, the file is replaced, and the database is another.
TEST_P(cold_read, outlives_the_file_that_it_reads) {
  if (GetParam() == backend_kind::simulated) GTEST_SKIP() << "nobody waits in a simulated world";
  run_sql("d", "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT); INSERT INTO t VALUES(1,2)");
  run([&](engine& plain) -> task<void> {
    sqlite3* other = nullptr;
    EXPECT_EQ(sqlite3_open(path_of("d").c_str(), &other), SQLITE_OK);
    const auto run_other = [&](const char* sql) {
      EXPECT_EQ(sqlite3_exec(other, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sql;
    };
    // Its journal is no file, which would be taken for the new database's.
    run_other("PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE; ALTER TABLE t ADD COLUMN b INT");
    const auto replace = [&]() -> task<void> {
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{20}));  // until it waits
      run_sql("new", "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT); INSERT INTO t VALUES(1,3)");
      EXPECT_EQ(std::rename(path_of("new").c_str(), path_of("d").c_str()), 0);
      EXPECT_TRUE(co_await plain.refresh());
      run_other("COMMIT");
      sqlite3_close(other);
    };
    const auto [told, replaced] =
        co_await when_all(look_up(plain, "d", "t", {value::integer(1)}, {"a"}), replace());
    EXPECT_EQ(told, "[3]");
  });
}

}  // namespace
}  // namespace weft::store::sqlite

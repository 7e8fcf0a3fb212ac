// The power is cut at many moments of a run of writes: what was said to be written is there, what
// was said not to be is not, and nothing is there in part.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/random.hpp>
#include <weft/base/sanitizers.hpp>
#include <weft/coro/scope.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/store/sqlite/crash_disk_test.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::int64_t rows_of_a_batch = 3;
constexpr std::int64_t writers = 4;
constexpr std::int64_t rounds = 6;

/// Of a row whose version is `version`; some pages long, so that it can be torn.
std::string payload_of(std::int64_t id, std::int64_t version) {
  return std::string(static_cast<std::size_t>(500 + 1500 * (id % 3)),
                     static_cast<char>('a' + (id * 7 + version) % 26));
}

struct counting_sink final : write_sink {
  void done(std::size_t) override { ++count; }
  void missing(std::size_t) override {}
  void failed(std::size_t, const failure& why) override {
    is_unknown = is_unknown || why.kind == failure_kind::unknown;
  }
  std::int64_t count = 0;
  bool is_unknown = false;
};

/// What was said of the versions of a batch.
struct history {
  std::int64_t durable = 0;  // the last one
  std::vector<std::int64_t> denied{};
  int unknown = 0;
};

/// Of WEFT_CRASH_POINTS, in as many rounds as that takes, of which each tears other sectors; else
/// one round.
std::uint64_t cuts_wanted() {
  const char* const said = std::getenv("WEFT_CRASH_POINTS");
  return said == nullptr ? 0 : std::strtoull(said, nullptr, 10);
}

class crash_recovery : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    options_.checkpoint_pages = 10;
  }

  void make_empty() {
    for (const auto& each : std::filesystem::directory_iterator{folder_})
      std::filesystem::remove(each.path());
    make_database("bank", "CREATE TABLE t(id INT PRIMARY KEY, version INT, payload TEXT)");
  }

  enum class said : std::uint8_t { durable, denied, unknown };

  /// Sets all rows of a batch to a version.
  static task<said> write_batch(engine& bank, std::int64_t batch, std::int64_t version) {
    const catalog_ref schema = bank.schema();
    const table* const t = schema->find("bank", "t");
    if (t == nullptr) co_return said::denied;
    std::vector<std::string> payloads(rows_of_a_batch);
    std::vector<value> keys(rows_of_a_batch);
    std::vector<std::vector<value>> contents(rows_of_a_batch);
    std::vector<key_write> operations;
    for (std::int64_t i = 0; i < rows_of_a_batch; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t id = batch * rows_of_a_batch + i;
      payloads[at] = payload_of(id, version);
      keys[at] = value::integer(id);
      contents[at] = {value::integer(version), value::text(payloads[at])};
      operations.push_back({write_kind::upsert, t, {&keys[at], 1}, t->values(), contents[at]});
    }
    counting_sink sink;
    const auto written = co_await bank.write(operations, sink);
    if (written && sink.count == rows_of_a_batch) co_return said::durable;
    co_return sink.is_unknown ? said::unknown : said::denied;
  }

  void write_until_cut(std::vector<history>& batches) {
    run([&](engine& bank) -> task<void> {
      scope all{co_await this_task::environment()};
      const auto write_rounds = [&](std::int64_t batch) -> task<void> {
        history& own = batches[static_cast<std::size_t>(batch)];
        for (std::int64_t version = 1; version <= rounds; ++version) {
          const said what = co_await write_batch(bank, batch, version);
          if (what == said::durable) own.durable = version;
          if (what == said::denied) own.denied.push_back(version);
          own.unknown += what == said::unknown ? 1 : 0;
        }
      };
      for (std::int64_t batch = 0; batch < writers; ++batch) all.spawn(write_rounds(batch));
      co_await all.join();
    });
  }

  /// What the power took with it.
  struct damage {
    int lost = 0;          // batches that were said to be durable
    int denied = 0;        // batches that are there, and were said not to be
    int halves = 0;        // batches of which a part is there
    int torn = 0;          // rows
    bool is_whole = true;  // as SQLite sees it

    friend bool operator==(const damage&, const damage&) noexcept = default;
  };

  /// 0: there are no such rows.
  static std::int64_t version_of(sqlite3* bank, std::int64_t batch, damage& seen) {
    std::vector<std::int64_t> versions(rows_of_a_batch, 0);
    for (std::int64_t i = 0; i < rows_of_a_batch; ++i) {
      const std::int64_t id = batch * rows_of_a_batch + i;
      const std::string sql = "SELECT version,payload FROM t WHERE id=" + std::to_string(id);
      sqlite3_stmt* row = nullptr;
      sqlite3_prepare_v2(bank, sql.c_str(), -1, &row, nullptr);
      if (sqlite3_step(row) == SQLITE_ROW) {
        std::int64_t& version = versions[static_cast<std::size_t>(i)];
        version = sqlite3_column_int64(row, 0);
        const auto* const payload = reinterpret_cast<const char*>(sqlite3_column_text(row, 1));
        seen.torn += payload == payload_of(id, version) ? 0 : 1;
      }
      sqlite3_finalize(row);
    }
    const auto is_other = [&](std::int64_t each) { return each != versions.front(); };
    seen.halves += std::ranges::any_of(versions, is_other) ? 1 : 0;
    return versions.front();
  }

  [[nodiscard]] damage look_at(const std::vector<history>& batches) const {
    damage seen;
    sqlite3* bank = nullptr;
    sqlite3_open(path_of("bank").c_str(), &bank);
    sqlite3_stmt* check = nullptr;
    sqlite3_prepare_v2(bank, "PRAGMA integrity_check", -1, &check, nullptr);
    seen.is_whole =
        sqlite3_step(check) == SQLITE_ROW &&
        std::string_view{reinterpret_cast<const char*>(sqlite3_column_text(check, 0))} == "ok";
    sqlite3_finalize(check);
    for (std::int64_t batch = 0; batch < writers; ++batch) {
      const history& own = batches[static_cast<std::size_t>(batch)];
      const std::int64_t version = version_of(bank, batch, seen);
      seen.lost += version < own.durable ? 1 : 0;
      seen.denied += std::ranges::contains(own.denied, version) ? 1 : 0;
    }
    sqlite3_exec(bank, "PRAGMA synchronous=OFF", nullptr, nullptr, nullptr);
    sqlite3_close(bank);
    return seen;
  }

  /// Nothing: all was written before so many calls were made.
  std::optional<damage> cut_once(std::uint64_t call, std::uint64_t salt = 7) {
    make_empty();
    std::vector<history> batches(writers);
    std::uint64_t calls = 0;
    {
      crash_disk disk;
      disk.cut_at(call);
      write_until_cut(batches);
      calls = disk.calls();
      random draw{call * 31 + salt};
      disk.restore(draw);
    }
    std::filesystem::remove(path_of("bank") + "-shm");
    for (const history& each : batches) unknown_ += each.unknown;
    const damage seen = look_at(batches);
    return calls < call ? std::nullopt : std::optional{seen};
  }

  int unknown_ = 0;  // batches of which nobody knew, of all runs
};
INSTANTIATE_TEST_SUITE_P(sqlite, crash_recovery,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

TEST_P(crash_recovery, loses_nothing_that_was_acknowledged) {
  const std::uint64_t step = WEFT_SANITIZED != 0 ? 7 : 1;
  std::uint64_t cuts = 0;
  for (std::uint64_t round = 0; round == 0 || cuts < cuts_wanted(); ++round) {
    std::uint64_t call = 1;
    for (; const auto seen = cut_once(call, 7 + round * 1'000'003); call += step, ++cuts)
      ASSERT_EQ(*seen, damage{}) << "the power was cut at call " << call << " of round " << round
                                 << ": " << seen->lost << " lost, " << seen->denied << " denied, "
                                 << seen->halves << " halves, " << seen->torn << " torn";
    EXPECT_GT(call, 100U);
  }
  EXPECT_GT(unknown_, 0);
  RecordProperty("cuts", std::to_string(cuts));
}

/// What this test is worth: less is promised, and it sees that less is kept.
TEST_P(crash_recovery, loses_the_last_commits_where_nobody_waits_for_the_disk) {
  options_.synchronous = durability::normal;
  int lost = 0;
  for (std::uint64_t call = 5; const auto seen = cut_once(call); call += 9) {
    lost += seen->lost;
    EXPECT_TRUE(seen->is_whole && seen->halves == 0 && seen->torn == 0) << call;
  }
  EXPECT_GT(lost, 0);
}

TEST_P(crash_recovery, says_that_the_disk_is_full_and_goes_on_when_it_is_not) {
  make_empty();
  crash_disk disk;
  run([&](engine& bank) -> task<void> {
    disk.cut_at(1, SQLITE_FULL);
    const catalog_ref schema = bank.schema();
    const value key = value::integer(1);
    const key_write operation{write_kind::upsert, schema->find("bank", "t"), {&key, 1}};
    struct sink final : write_sink {
      void done(std::size_t) override { ADD_FAILURE(); }
      void missing(std::size_t) override { ADD_FAILURE(); }
      void failed(std::size_t, const failure& why) override {
        kind = why.kind;
        message = why.message;
      }
      failure_kind kind = failure_kind::other;
      std::string message;
    } told;
    EXPECT_TRUE(co_await bank.write({&operation, 1}, told));
    EXPECT_EQ(told.kind, failure_kind::full);
    EXPECT_TRUE(told.message.contains("free some space")) << told.message;
    disk.cut_at(0);
    EXPECT_EQ(co_await write_batch(bank, 0, 1), said::durable);
  });
}

TEST_P(crash_recovery, fails_what_it_cannot_write_and_goes_on_when_it_can) {
  make_empty();
  crash_disk disk;
  run([&](engine& bank) -> task<void> {
    EXPECT_EQ(co_await write_batch(bank, 0, 1), said::durable);
    disk.cut_at(1);
    EXPECT_NE(co_await write_batch(bank, 0, 2), said::durable);
    EXPECT_NE(co_await write_batch(bank, 1, 1), said::durable);
    disk.cut_at(0);
    EXPECT_EQ(co_await write_batch(bank, 1, 2), said::durable);
    EXPECT_EQ(co_await look_up(bank, "bank", "t", {value::integer(0)}, {"version"}), "[1]");
    EXPECT_EQ(co_await look_up(bank, "bank", "t", {value::integer(3)}, {"version"}), "[2]");
  });
}

}  // namespace
}  // namespace weft::store::sqlite

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

/// "ok missing !duplicate_key"; of a rule that one of all breaks, nobody knows which:
/// "!constraint?"
class noting_write_sink final : public write_sink {
 public:
  void done(std::size_t operation) override { note(operation, "ok"); }
  void missing(std::size_t operation) override { note(operation, "missing"); }
  void failed(std::size_t operation, const failure& why) override {
    const bool is_of_some_row = why.kind == failure_kind::constraint && why.is_of_all;
    note(operation, "!" + std::to_string(static_cast<int>(why.kind)) + (is_of_some_row ? "?" : ""));
    last_message = why.message;
  }
  std::string text;
  std::string last_message;

 private:
  void note(std::size_t operation, const std::string& what) {
    EXPECT_EQ(operation, told_++) << "in order, and each once";
    text += (text.empty() ? "" : " ") + what;
  }
  std::size_t told_ = 0;
};

std::string kind_text(failure_kind kind) { return "!" + std::to_string(static_cast<int>(kind)); }

struct change {
  write_kind kind;
  std::int64_t id;
  std::optional<std::string> note = std::nullopt;
};

/// Keeps all others from writing until it ends.
class program_that_writes {
 public:
  explicit program_that_writes(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &database_), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  program_that_writes(const program_that_writes&) = delete;
  program_that_writes& operator=(const program_that_writes&) = delete;
  ~program_that_writes() { end(); }
  void end() { sqlite3_close(std::exchange(database_, nullptr)); }

 private:
  sqlite3* database_ = nullptr;
};

class engine_write : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    make_database(
        "shop",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, note VARCHAR(20) NOT NULL DEFAULT 'new', "
        "price DECIMAL(10,2), CHECK(note<>'bad')); CREATE UNIQUE INDEX by_price ON t(price);"
        "CREATE TRIGGER ends_all BEFORE INSERT ON t WHEN NEW.note='end' "
        "BEGIN SELECT RAISE(ROLLBACK, 'no more'); END;"
        "CREATE TABLE late(of INT REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED);"
        "CREATE TRIGGER looks_late AFTER INSERT ON t WHEN NEW.note='late' "
        "BEGIN INSERT INTO late VALUES(999); END;"
        "INSERT INTO t VALUES(1,'one',1),(2,'two',2);");
  }

  /// Changes of shop.t, each of which sets the note, if it has one.
  static task<std::string> change_all(engine& shop, std::vector<change> changes,
                                      std::string* message = nullptr) {
    const catalog_ref schema = shop.schema();
    const table* const t = schema->find("shop", "t");
    const column_position note = t->find("note").value();
    std::vector<value> keys(changes.size());
    std::vector<value> notes(changes.size());
    std::vector<key_write> operations;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      keys[i] = value::integer(changes[i].id);
      const std::size_t set = changes[i].note ? 1 : 0;
      if (set != 0) notes[i] = value::text(*changes[i].note);
      operations.push_back({.kind = changes[i].kind,
                            .to = t,
                            .key = {&keys[i], 1},
                            .columns = {&note, set},
                            .values = {&notes[i], set}});
    }
    noting_write_sink sink;
    const auto written = co_await shop.write(operations, sink);
    if (message != nullptr) *message = sink.last_message;
    co_return written ? sink.text : to_string(written.error().code());
  }

  static task<std::string> note_of(engine& shop, std::int64_t id) {
    return look_up(shop, "shop", "t", {value::integer(id)}, {"note"});
  }
};
INSTANTIATE_TEST_SUITE_P(sqlite, engine_write,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

TEST_P(engine_write, does_what_each_kind_says) {
  run([&](engine& shop) -> task<void> {
    using enum write_kind;
    EXPECT_EQ(co_await change_all(shop, {{insert, 3, "three"}}), "ok");
    EXPECT_EQ(co_await note_of(shop, 3), R"(["three"])");
    EXPECT_EQ(co_await change_all(shop, {{insert, 4}}), "ok");
    EXPECT_EQ(co_await note_of(shop, 4), R"(["new"])");
    EXPECT_EQ(co_await change_all(shop, {{update, 1, "uno"}, {update, 9, "none"}, {update, 2}}),
              "ok missing ok");
    EXPECT_EQ(co_await note_of(shop, 1), R"(["uno"])");
    EXPECT_EQ(co_await look_up(shop, "shop", "t", {value::integer(1)}), R"(["uno",1.00])");
    EXPECT_EQ(co_await change_all(shop, {{upsert, 1, "eins"}, {upsert, 5, "five"}, {upsert, 5}}),
              "ok ok ok");
    EXPECT_EQ(co_await look_up(shop, "shop", "t", {value::integer(1)}), R"(["eins",1.00])");
    EXPECT_EQ(co_await note_of(shop, 5), R"(["five"])");
    EXPECT_EQ(co_await change_all(shop, {{remove, 1}, {remove, 1}}), "ok missing");
    EXPECT_EQ(co_await note_of(shop, 1), "-");
    EXPECT_EQ(co_await change_all(shop, {}), "");
  });
}

TEST_P(engine_write, does_all_of_a_batch_or_nothing) {
  run([&](engine& shop) -> task<void> {
    using enum write_kind;
    std::string message;
    const std::string undone = kind_text(failure_kind::rolled_back);
    EXPECT_EQ(co_await change_all(shop, {{insert, 7, "seven"}, {insert, 2, "again"}, {remove, 1}}),
              undone + " " + kind_text(failure_kind::duplicate_key) + " " + undone);
    EXPECT_EQ(co_await note_of(shop, 7), "-");
    EXPECT_EQ(co_await note_of(shop, 1), R"(["one"])");
    EXPECT_EQ(co_await change_all(shop, {{upsert, 2, "bad"}}, &message),
              kind_text(failure_kind::constraint));
    EXPECT_TRUE(message.contains("CHECK constraint failed")) << message;
    EXPECT_EQ(co_await change_all(shop, {{insert, 7, "seven"}}), "ok");
  });
}

TEST_P(engine_write, says_who_has_ended_all_and_that_nobody_knows) {
  run([&](engine& shop) -> task<void> {
    using enum write_kind;
    const std::string undone = kind_text(failure_kind::rolled_back);
    const std::string broken = kind_text(failure_kind::constraint);
    EXPECT_EQ(co_await change_all(shop, {{insert, 7, "a"}, {insert, 8, "end"}, {insert, 9, "b"}}),
              undone + " " + broken + " " + undone);
    EXPECT_EQ(co_await change_all(shop, {{insert, 7, "a"}, {insert, 8, "late"}}),
              broken + "? " + broken + "?");
    EXPECT_EQ(co_await note_of(shop, 7), "-");
    EXPECT_EQ(co_await change_all(shop, {{insert, 7, "a"}}), "ok");
  });
}

TEST_P(engine_write, is_seen_by_the_reads_of_the_same_turn) {
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await note_of(shop, 1), R"(["one"])");
    EXPECT_EQ(co_await change_all(shop, {{write_kind::update, 1, "uno"}}), "ok");
    EXPECT_EQ(co_await note_of(shop, 1), R"(["uno"])");
    run_sql("shop", "UPDATE t SET note='other' WHERE id=1");
    co_await next_turn();
    EXPECT_EQ(co_await note_of(shop, 1), R"(["other"])");
  });
}

TEST_P(engine_write, keeps_every_type_as_it_was_given) {
  make_database("types",
                "CREATE TABLE t(id INT PRIMARY KEY, big BIGINT UNSIGNED, exact DECIMAL(30,5), "
                "price DECIMAL(9,2),"
                " bits BIT(64), bytes BINARY(4), moment DATETIME(3), f DOUBLE, none TEXT,"
                " free NUMERIC, freer NUMERIC, whole NUMERIC, j JSON, k JSON, e ENUM);");
  run([&](engine& types) -> task<void> {
    const catalog_ref schema = types.schema();
    const table* const t = schema->find("types", "t");
    const std::vector<json_scalar> given{{json_kind::number, "18446744073709551615"},
                                         {json_kind::string, "1234567890123456789012345.12345"},
                                         {json_kind::number, "1.5"},
                                         {json_kind::string, "//////////8="},
                                         {json_kind::string, "AQ=="},
                                         {json_kind::string, "2024-02-29T10:00:00.5"},
                                         {json_kind::number, "0.1"},
                                         {json_kind::null, "null"},
                                         {json_kind::number, "0.30000000000000004"},
                                         {json_kind::number, "1.23456789012345678"},
                                         {json_kind::number, "9223372036854775807"},
                                         {json_kind::string, "1e5"},
                                         {json_kind::string, " -.5 "},
                                         {json_kind::string, "17"}};
    scratch room;
    std::vector<value> values;
    for (std::size_t i = 0; i < given.size(); ++i)
      values.push_back(*to_value(given[i], t->columns()[t->values()[i]], purpose::content, room));
    const value key = value::integer(1);
    const key_write operation{write_kind::insert, t, {&key, 1}, t->values(), values};
    noting_write_sink sink;
    EXPECT_TRUE(co_await types.write({&operation, 1}, sink));
    EXPECT_EQ(sink.text, "ok") << sink.last_message;
    EXPECT_EQ(co_await look_up(types, "types", "t", {key}),
              R"([18446744073709551615,1234567890123456789012345.12345,1.50,"//////////8=",)"
              R"("AQAAAA==","2024-02-29 10:00:00.500",0.1,null,0.30000000000000004,)"
              R"(1.23456789012345678,9223372036854775807,"1e5"," -.5 ","17"])");
  });
}

TEST_P(engine_write, notices_a_changed_schema) {
  run([&](engine& shop) -> task<void> {
    run_sql("shop", "CREATE TABLE other(a INT PRIMARY KEY)");
    EXPECT_EQ(co_await change_all(shop, {{write_kind::update, 1, "uno"}}), "ok");
    EXPECT_NE(shop.schema()->find("shop", "other"), nullptr);
    run_sql("shop", "ALTER TABLE t ADD COLUMN more INT");
    EXPECT_EQ(co_await change_all(shop, {{write_kind::update, 1, "eins"}}),
              kind_text(failure_kind::schema_changed));
    EXPECT_EQ(co_await change_all(shop, {{write_kind::update, 1, "eins"}}), "ok");
  });
}

TEST_P(engine_write, counts_what_is_durable_and_what_failed) {
  run([&](engine& shop) -> task<void> {
    using enum write_kind;
    EXPECT_EQ(co_await change_all(shop, {{update, 1, "uno"}, {update, 9, "none"}, {remove, 2}}),
              "ok missing ok");
    EXPECT_EQ(counted("store_writes_total"), 2);
    EXPECT_EQ(counted("store_commits_total"), 1);
    EXPECT_EQ(counted("store_write_wait_ns"), 1);
    EXPECT_EQ(counted("store_write_batches_waiting"), 0);
    const std::string undone = kind_text(failure_kind::rolled_back);
    EXPECT_EQ(co_await change_all(shop, {{insert, 7, "seven"}, {insert, 1, "again"}}),
              undone + " " + kind_text(failure_kind::duplicate_key));
    EXPECT_EQ(counted("store_writes_total"), 2);
    EXPECT_EQ(counted("store_failures_total", {{"kind", "duplicate_key"}}), 1);
    EXPECT_EQ(counted("store_failures_total", {{"kind", "rolled_back"}}), 1);
  });
}

TEST_P(engine_write, upserts_a_row_without_what_it_has_already) {
  make_database("strict",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, must TEXT NOT NULL, may TEXT);"
                "INSERT INTO t VALUES(1,'there','old')");
  run([&](engine& strict) -> task<void> {
    const catalog_ref schema = strict.schema();
    const table* const t = schema->find("strict", "t");
    const column_position may = t->find("may").value();
    const auto upsert = [&](std::int64_t id, std::size_t columns) -> task<std::string> {
      const value key = value::integer(id);
      const value content = value::text("new");
      const key_write operation{
          write_kind::upsert, t, {&key, 1}, {&may, columns}, {&content, columns}};
      noting_write_sink sink;
      EXPECT_TRUE(co_await strict.write({&operation, 1}, sink));
      co_return sink.text;
    };
    EXPECT_EQ(co_await upsert(1, 1), "ok");
    EXPECT_EQ(co_await upsert(1, 0), "ok");
    EXPECT_EQ(co_await upsert(2, 1), kind_text(failure_kind::constraint));
    EXPECT_EQ(co_await look_up(strict, "strict", "t", {value::integer(1)}), R"(["there","new"])");
  });
}

TEST_P(engine_write, is_of_one_database) {
  make_database("other", "CREATE TABLE t(id INTEGER PRIMARY KEY)");
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    const value key = value::integer(1);
    const key_write operations[] = {{write_kind::remove, schema->find("shop", "t"), {&key, 1}},
                                    {write_kind::remove, schema->find("other", "t"), {&key, 1}}};
    noting_write_sink sink;
    const auto written = co_await shop.write(operations, sink);
    EXPECT_EQ(written.error(), errc::invalid_argument);
    EXPECT_EQ(sink.text, "");
    EXPECT_EQ(co_await note_of(shop, 1), R"(["one"])");
  });
}

TEST_P(engine_write, fails_while_another_program_holds_the_database_and_works_after) {
  options_.busy_timeout = std::chrono::milliseconds{0};
  run([&](engine& shop) -> task<void> {
    program_that_writes other{path_of("shop")};
    std::string message;
    const std::string told = co_await change_all(shop, {{write_kind::update, 1, "x"}}, &message);
    EXPECT_EQ(told, kind_text(failure_kind::busy));
    EXPECT_TRUE(message.contains("another program writes to it")) << message;
    EXPECT_EQ(co_await note_of(shop, 1), R"(["one"])");
    other.end();
    EXPECT_EQ(co_await change_all(shop, {{write_kind::update, 1, "x"}}), "ok");
  });
}

/// The file says so itself, since the super-user may write to any.
TEST_P(engine_write, says_that_a_database_is_read_only) {
  run_sql("shop", "PRAGMA journal_mode=DELETE");
  {
    std::fstream file{path_of("shop"), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(18);  // sqlite.org/fileformat.html, section 1.3.4
    file.put('\3');
  }
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await note_of(shop, 1), R"(["one"])");
    std::string message;
    const std::string told = co_await change_all(shop, {{write_kind::update, 1, "x"}}, &message);
    EXPECT_EQ(told, kind_text(failure_kind::read_only)) << message;
    EXPECT_TRUE(message.contains("let this program's user write")) << message;
    EXPECT_EQ(co_await note_of(shop, 1), R"(["one"])");
  });
}

TEST_P(engine_write, follows_a_file_that_was_replaced) {
  run([&](engine& shop) -> task<void> {
    EXPECT_EQ(co_await change_all(shop, {{write_kind::update, 1, "x"}}), "ok");
    make_database(
        "new",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, note TEXT); INSERT INTO t VALUES(1,'fresh')");
    for (const char* each : {"-wal", "-shm"}) std::filesystem::remove(path_of("shop") + each);
    std::filesystem::rename(path_of("new"), path_of("shop"));
    EXPECT_TRUE(co_await shop.refresh());
    EXPECT_EQ(co_await note_of(shop, 1), R"(["fresh"])");
    EXPECT_EQ(co_await change_all(shop, {{write_kind::update, 1, "y"}}), "ok");
    EXPECT_EQ(co_await note_of(shop, 1), R"(["y"])");
    std::filesystem::remove(path_of("shop"));
    std::string message;
    const std::string told = co_await change_all(shop, {{write_kind::update, 1, "z"}}, &message);
    EXPECT_EQ(told, kind_text(failure_kind::schema_changed)) << message;
  });
}

TEST_P(engine_write, moves_the_log_into_the_database) {
  options_.checkpoint_pages = 2;
  run([&](engine& shop) -> task<void> {
    for (int i = 10; i < 50; ++i)
      EXPECT_EQ(co_await change_all(shop, {{write_kind::insert, i, std::string(20, 'x')}}), "ok");
  });
  // At the end all of it is there, and the log is empty.
  std::error_code why;
  const auto log = std::filesystem::file_size(path_of("shop") + "-wal", why);
  EXPECT_TRUE(why || log == 0) << log;
}

class writes_of_many : public engine_write {
 protected:
  /// What has been spawned is with the writer, who waits for another program.
  task<void> until_taken(engine& shop) {
    do co_await next_turn();
    while (shop.writes_waiting() != 0);
  }
};
INSTANTIATE_TEST_SUITE_P(sqlite, writes_of_many, kernel_backends, backend_name);

TEST_P(writes_of_many, go_together_in_few_commits) {
  constexpr int count = 100;
  options_.busy_timeout = std::chrono::seconds{20};
  run([&](engine& shop) -> task<void> {
    program_that_writes other{path_of("shop")};
    scope writers{co_await this_task::environment()};
    int done = 0;
    const auto write_one = [&](int i) -> task<void> {
      const std::string told =
          co_await change_all(shop, {{write_kind::insert, 100 + i, std::to_string(i)}});
      done += told == "ok" ? 1 : 0;
    };
    for (int i = 0; i < count; ++i) writers.spawn(write_one(i));
    co_await next_turn();
    other.end();
    co_await writers.join();
    EXPECT_EQ(done, count);
    // Those that were taken at once, and those that came meanwhile.
    EXPECT_LE(shop.commits(), 2U);
    EXPECT_EQ(co_await note_of(shop, 100), R"(["0"])");
    EXPECT_EQ(co_await note_of(shop, 100 + count - 1), R"(["99"])");
  });
}

TEST_P(writes_of_many, wait_in_a_line_that_has_an_end) {
  options_.writes_waiting_max = 2;
  options_.busy_timeout = std::chrono::seconds{20};
  run([&](engine& shop) -> task<void> {
    program_that_writes other{path_of("shop")};
    scope writers{co_await this_task::environment()};
    std::vector<std::string> told;
    const auto write_one = [&](int i) -> task<void> {
      told.push_back(co_await change_all(shop, {{write_kind::insert, i, "x"}}));
    };
    writers.spawn(write_one(50));
    co_await until_taken(shop);
    for (int i = 51; i < 56; ++i) writers.spawn(write_one(i));
    co_await next_turn();
    const std::string late = co_await with_timeout(
        std::chrono::milliseconds{20}, change_all(shop, {{write_kind::insert, 60, "x"}}));
    EXPECT_EQ(late, "limit_exceeded");
    other.end();
    co_await writers.join();
    EXPECT_EQ(std::ranges::count(told, "ok"), 3);
    EXPECT_EQ(std::ranges::count(told, "limit_exceeded"), 3);
  });
}

TEST_P(writes_of_many, leave_the_line_and_wait_for_no_lock_when_asked) {
  options_.busy_timeout = std::chrono::hours{1};
  run([&](engine& shop) -> task<void> {
    program_that_writes other{path_of("shop")};
    scope writers{co_await this_task::environment()};
    std::string first;
    const auto write_first = [&]() -> task<void> {
      first = co_await change_all(shop, {{write_kind::insert, 50, "x"}});
    };
    writers.spawn(write_first());
    co_await until_taken(shop);
    // Behind one that has begun.
    EXPECT_EQ(co_await with_timeout(std::chrono::milliseconds{5},
                                    change_all(shop, {{write_kind::insert, 51, "x"}})),
              "timed_out");
    EXPECT_EQ(first, "");
    writers.request_stop();
    co_await writers.join();
    EXPECT_EQ(first, kind_text(failure_kind::busy));
    other.end();
    EXPECT_EQ(co_await note_of(shop, 50), "-");
    EXPECT_EQ(co_await note_of(shop, 51), "-");
  });
}

/// 200 timeouts one after the other would outlast the lock, and the later writes would succeed.
TEST_P(writes_of_many, share_one_timeout_for_the_same_lock) {
  options_.busy_timeout = std::chrono::milliseconds{500};
  run([&](engine& shop) -> task<void> {
    constexpr std::size_t count = 200;
    program_that_writes other{path_of("shop")};
    scope writers{co_await this_task::environment()};
    std::vector<std::string> told;
    const auto write_one = [&](std::int64_t i) -> task<void> {
      told.push_back(co_await change_all(shop, {{write_kind::insert, i, "x"}}));
    };
    for (std::size_t i = 0; i < count; ++i)
      writers.spawn(write_one(50 + static_cast<std::int64_t>(i)));
    const time_point release = loop_->now() + std::chrono::minutes{1};
    while (told.size() < count && loop_->now() < release) co_await next_turn();
    other.end();
    co_await writers.join();
    EXPECT_EQ(std::ranges::count(told, kind_text(failure_kind::busy)), count);
  });
}

}  // namespace
}  // namespace weft::store::sqlite

// How much of what a server sends an engine keeps: a bound, whoever asks, and whatever the rows
// are.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/mysql/engine_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

constexpr std::string_view photos =
    "CREATE TABLE photos(id INT PRIMARY KEY, small TEXT, photo LONGBLOB)";

/// Rows of 200 KiB each, and one of 3 MiB.
constexpr std::string_view many_photos =
    "INSERT INTO photos SELECT seq, CONCAT('n', seq), REPEAT('x', 204800) FROM seq_1_to_40";
constexpr std::string_view large_photo =
    "INSERT INTO photos VALUES(100, 'large', REPEAT('y', 3145728))";

class counted_scan final : public scan_sink {
 public:
  void row(std::span<const value> values) override {
    ++rows;
    for (const value& each : values)
      if (each.kind() == value_kind::bytes) bytes += each.as_text().size();
  }
  void failed(const failure& why) override {
    kind = why.kind;
    message = why.message;
  }
  std::size_t rows = 0;
  std::size_t bytes = 0;
  std::optional<failure_kind> kind;
  std::string message;
};

class mysql_engine_memory : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    options_.read_memory_bytes = 1024 * 1024;
  }

  static std::vector<std::vector<value>> keys(std::int64_t first, std::int64_t last) {
    std::vector<std::vector<value>> made;
    for (; first <= last; ++first) made.push_back({value::integer(first)});
    return made;
  }

  /// Of all that a scan of the photos finds.
  static task<counted_scan> scan_photos(engine& on) {
    const catalog_ref schema = on.schema();
    const column_position columns[] = {0, 2};
    const scan_request request{.from = &find(on, "photos"), .columns = columns, .limit = 1000};
    counted_scan sink;
    const auto rest = co_await on.scan(request, sink);
    EXPECT_EQ(rest.value_or("?"), "");
    co_return sink;
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_engine_memory, kernel_backends, backend_name);

constexpr std::string_view too_many_bytes =
    "the rows have more than 1048576 bytes (store.mysql.engine.read_memory_bytes): ask for fewer "
    "rows or columns at once";

TEST_P(mysql_engine_memory, a_batch_keeps_so_many_bytes_and_reads_no_more) {
  run_engine({photos, many_photos}, [&](engine& on) -> task<void> {
    const std::string four = co_await look_up(on, "photos", keys(1, 4), {"photo"});
    EXPECT_EQ(four.size(), 4U * (204'800 / 3 * 4 + 4 + 4) + 3);
    EXPECT_EQ(counted("store_connections_lost_total"), 0);

    const catalog_ref schema = on.schema();
    const column_position photo = 2;
    const auto asked = keys(0, 40);
    std::vector<key_read> operations;
    for (const auto& key : asked) operations.push_back({&find(on, "photos"), key, {&photo, 1}});
    noted_reads sink{operations};
    EXPECT_TRUE(co_await on.read(operations, sink));
    EXPECT_EQ(sink.message, too_many_bytes);
    EXPECT_EQ(sink.text.find('['), std::string::npos) << "all fail, or none";
    EXPECT_EQ(counted("store_failures_total", {{"kind", "too_large"}}), 41);
    EXPECT_EQ(counted("store_connections_lost_total"), 1) << "the rest was not read";

    EXPECT_EQ(co_await look_up(on, "photos", keys(7, 8), {"small"}), R"(["n7"] ["n8"])");
  });
}

TEST_P(mysql_engine_memory, the_same_row_is_kept_once_for_all_who_ask_for_it) {
  run_engine({photos, many_photos}, [&](engine& on) -> task<void> {
    const std::vector<std::vector<value>> same(20, {value::integer(3)});
    const std::string twenty = co_await look_up(on, "photos", same, {"photo"});
    EXPECT_GT(twenty.size(), 20U * 204'800);
  });
}

/// As others would: nothing is left for normal work, though some buffers were given back.
memory_reservation take_all(memory_share& of) {
  constexpr std::size_t more = 8UL * 1024 * 1024;
  const std::size_t most = of.budget().ceiling(memory_priority::normal);
  return of.hold(memory_kind::bodies, most - of.budget().taken() + more);
}

std::uint64_t reserved_bytes(memory_share& of) {
  return of.gauges().bytes[static_cast<std::size_t>(memory_kind::queries)];
}

constexpr std::string_view no_memory =
    "there is no memory for the rows now: try again, or ask for fewer rows or columns at once";

TEST_P(mysql_engine_memory, a_batch_that_finds_none_in_a_second_is_refused) {
  run_engine({photos, many_photos}, [&](engine& on) -> task<void> {
    const memory_reservation taken = take_all(loop_->memory());
    EXPECT_EQ(co_await look_up(on, "photos", keys(1, 4), {"small"}),
              R"(["n1"] ["n2"] ["n3"] ["n4"])")
        << "small rows are not asked about";
    const catalog_ref schema = on.schema();
    const column_position photo = 2;
    const auto asked = keys(1, 4);
    std::vector<key_read> operations;
    for (const auto& key : asked) operations.push_back({&find(on, "photos"), key, {&photo, 1}});
    noted_reads sink{operations};
    EXPECT_TRUE(co_await on.read(operations, sink));
    EXPECT_EQ(sink.text, "!no_memory !no_memory !no_memory !no_memory") << "all fail, or none";
    EXPECT_EQ(sink.message, no_memory);
    EXPECT_EQ(reserved_bytes(loop_->memory()), 0U);
    EXPECT_EQ(loop_->memory().gauges().refused, 1U);
    EXPECT_EQ(counted("store_failures_total", {{"kind", "no_memory"}}), 4);
  });
}

/// A batch that waits for memory. On a machine that stands still a second may be over before the
/// test goes on: then it is asked for again.
class mysql_batch_that_waits : public mysql_engine_memory {
 protected:
  /// The outcome of the call, and what its sink was told, after `meanwhile` was done as it waited.
  template <class Meanwhile>
  task<std::string> ask_while(engine& on, Meanwhile meanwhile) {
    for (int more = 20; more > 0; --more) {
      std::string said;
      memory_reservation taken = take_all(loop_->memory());
      const std::uint64_t waits = loop_->memory().gauges().waits;
      scope asked{co_await this_task::environment()};
      asked.spawn(ask(on, keys(1, 4), said));
      for (int looks = 0; loop_->memory().gauges().waits == waits && looks < 12'000; ++looks)
        EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{5}));
      meanwhile(taken, asked);
      co_await asked.join();
      if (!said.contains("!no_memory")) co_return said;
    }
    co_return "no memory";
  }

 private:
  static task<void> ask(engine& on, std::vector<std::vector<value>> asked, std::string& said) {
    const catalog_ref schema = on.schema();
    const column_position photo = 2;
    std::vector<key_read> operations;
    for (const auto& key : asked) operations.push_back({&find(on, "photos"), key, {&photo, 1}});
    noted_reads sink{operations};
    const auto read = co_await on.read(operations, sink);
    said = read ? std::move(sink.text) : read.error().message() + sink.text;
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_batch_that_waits, kernel_backends, backend_name);

TEST_P(mysql_batch_that_waits, goes_on_when_others_give_back) {
  run_engine({photos, many_photos}, [&](engine& on) -> task<void> {
    const std::string found =
        co_await ask_while(on, [](memory_reservation& taken, scope&) { taken.reset(); });
    EXPECT_GT(found.size(), 4U * 204'800);
    EXPECT_EQ(reserved_bytes(loop_->memory()), 0U);
  });
}

TEST_P(mysql_batch_that_waits, holds_nothing_when_it_was_called_off) {
  run_engine({photos, many_photos}, [&](engine& on) -> task<void> {
    const std::string said =
        co_await ask_while(on, [](memory_reservation&, scope& asked) { asked.request_stop(); });
    EXPECT_EQ(said, error{errc::cancelled}.message());
    EXPECT_EQ(reserved_bytes(loop_->memory()), 0U);
    EXPECT_EQ(co_await look_up(on, "photos", keys(7, 8), {"small"}), R"(["n7"] ["n8"])");
  });
}

/// What a sink sees of the shard's memory while it is told.
class gauging_reads final : public read_sink {
 public:
  explicit gauging_reads(memory_share& of) noexcept : of_{of} {}
  void row(std::size_t /*operation*/, std::span<const value> values) override {
    told_bytes += values[0].as_text().size();
    held_bytes = reserved_bytes(of_);
  }
  void missing(std::size_t /*operation*/) override {}
  void failed(std::size_t /*operation*/, const failure& why) override {
    ADD_FAILURE() << why.message;
  }
  std::size_t told_bytes = 0;
  std::size_t held_bytes = 0;

 private:
  memory_share& of_;
};

TEST_P(mysql_engine_memory, rows_of_a_batch_count_until_they_are_told) {
  run_engine({photos, many_photos}, [&](engine& on) -> task<void> {
    const catalog_ref schema = on.schema();
    const column_position photo = 2;
    const auto asked = keys(1, 4);
    std::vector<key_read> operations;
    for (const auto& key : asked) operations.push_back({&find(on, "photos"), key, {&photo, 1}});
    gauging_reads sink{loop_->memory()};
    EXPECT_TRUE(co_await on.read(operations, sink));
    EXPECT_EQ(sink.told_bytes, 4U * 204'800);
    EXPECT_GE(sink.held_bytes, sink.told_bytes);
    EXPECT_LT(sink.held_bytes, sink.told_bytes + 10'000) << "what is not needed was given back";
  });
}

TEST_P(mysql_engine_memory, a_row_that_is_too_large_by_itself_is_refused) {
  run_engine({photos, many_photos, large_photo}, [&](engine& on) -> task<void> {
    EXPECT_EQ(co_await look_up(on, "photos", keys(100, 100), {"photo"}), "!too_large");
    EXPECT_EQ(co_await look_up(on, "photos", keys(100, 100), {"small"}), R"(["large"])");
    const counted_scan sink = co_await scan_photos(on);
    EXPECT_EQ(sink.kind, failure_kind::too_large);
    EXPECT_EQ(sink.message, too_many_bytes);
    EXPECT_GE(sink.rows, 30U) << "those of the parts before it";
    noted_query found;
    const auto all = co_await on.query(
        {.database = database, .text = "SELECT small, photo FROM photos WHERE id = 100"}, found);
    EXPECT_TRUE(all);
    EXPECT_FALSE(all.value_or(true));
    EXPECT_EQ(found.text, "small photo !too_large");
    EXPECT_EQ(found.message, too_many_bytes);
    // What is written is not bounded by what is read.
    const catalog_ref schema = on.schema();
    const std::string content(2 * 1024 * 1024, 'z');
    const value key = value::integer(200);
    const value photo = value::bytes(content);
    const column_position column = 2;
    const key_write written{
        write_kind::insert, &find(on, "photos"), {&key, 1}, {&column, 1}, {&photo, 1}};
    noted_writes done;
    EXPECT_TRUE(co_await on.write({&written, 1}, done));
    EXPECT_EQ(done.text, "ok") << done.message;
  });
}

TEST_P(mysql_engine_memory, a_large_row_leaves_nothing_behind_on_its_connection) {
  options_.read_memory_bytes = 16 * 1024 * 1024;
  run_engine({photos, "INSERT INTO photos VALUES(1, 'small', 'x'), (2, '', REPEAT('x', 6000000))"},
             [&](engine& on) -> task<void> {
               EXPECT_EQ(co_await look_up(on, "photos", keys(1, 1), {"small"}), R"(["small"])");
               EXPECT_EQ(counted("store_connections_open"), 1);
               const std::string large = co_await look_up(on, "photos", keys(2, 2), {"photo"});
               EXPECT_GT(large.size(), 6'000'000U);
               EXPECT_EQ(counted("store_connections_open"), 1);
               EXPECT_EQ(reserved_bytes(loop_->memory()), 0U) << "nor does the library keep it";
               EXPECT_EQ(co_await look_up(on, "photos", keys(1, 1), {"small"}), R"(["small"])");
             });
}

/// Gives long rows no memory from the row on that has this number.
class refusing_scan final : public scan_sink {
 public:
  explicit refusing_scan(std::size_t refuses_from) noexcept : refuses_from_{refuses_from} {}
  void row(std::span<const value> values) override {
    ids += std::to_string(values[0].as_integer()) + " ";
    ++rows_;
  }
  bool long_row(std::span<const value> values, memory_reservation memory) override {
    EXPECT_GE(memory.bytes(), told_bytes(204'800, values.size()));
    is_full_ = rows_ == refuses_from_;
    if (!is_full_) row(values);
    return !is_full_;
  }
  void failed(const failure& why) override { ADD_FAILURE() << why.message; }
  [[nodiscard]] bool is_full() const override { return is_full_; }
  std::string ids;

 private:
  std::size_t refuses_from_;
  std::size_t rows_ = 0;
  bool is_full_ = false;
};

TEST_P(mysql_engine_memory, a_scan_goes_on_before_the_row_that_its_sink_has_not_taken) {
  run_engine({photos, many_photos}, [&](engine& on) -> task<void> {
    const catalog_ref schema = on.schema();
    const column_position columns[] = {0, 2};
    scan_request request{.from = &find(on, "photos"), .columns = columns, .limit = 3};
    std::string ids;
    std::string rest = "?";
    for (int calls = 0; calls < 100 && !rest.empty(); ++calls) {
      refusing_scan sink{calls % 2 == 0 ? std::size_t{1} : std::size_t{3}};
      request.continuation = rest == "?" ? std::string_view{} : std::string_view{rest};
      auto next = co_await on.scan(request, sink);
      EXPECT_TRUE(next);
      rest = next ? std::move(*next) : std::string{};
      ids += sink.ids;
    }
    std::string all;
    for (int i = 1; i <= 40; ++i) all += std::to_string(i) + " ";
    EXPECT_EQ(ids, all);
    EXPECT_EQ(reserved_bytes(loop_->memory()), 0U);
  });
}

TEST_P(mysql_engine_memory, a_scan_and_a_query_that_find_none_are_refused_before_their_first_row) {
  run_engine({photos, many_photos}, [&](engine& on) -> task<void> {
    const catalog_ref schema = on.schema();
    const column_position columns[] = {0, 2};
    const scan_request request{.from = &find(on, "photos"), .columns = columns, .limit = 3};
    memory_reservation taken = take_all(loop_->memory());
    counted_scan scanned;
    const auto rest = co_await on.scan(request, scanned);
    EXPECT_FALSE(rest);
    if (!rest) EXPECT_EQ(rest.error(), errc::exhausted);
    EXPECT_EQ(scanned.rows, 0U);
    noted_query found;
    const query_request asked{.database = database, .text = "SELECT photo FROM photos LIMIT 1"};
    const auto all = co_await on.query(asked, found);
    EXPECT_FALSE(all);
    if (!all) EXPECT_EQ(all.error(), errc::exhausted);
    EXPECT_EQ(found.rows, 0U);
    EXPECT_EQ(reserved_bytes(loop_->memory()), 0U);
    taken.reset();
    EXPECT_EQ((co_await scan_photos(on)).rows, 40U);
    noted_query again;
    EXPECT_TRUE((co_await on.query(asked, again)).value_or(false));
    EXPECT_EQ(again.rows, 1U);
  });
}

TEST_P(mysql_engine_memory, a_scan_goes_on_in_parts_whatever_its_rows_have) {
  run_engine({photos,
              "INSERT INTO photos SELECT seq, '', REPEAT('x', IF(seq % 100 = 0, 500000, 9))"
              " FROM seq_1_to_900"},
             [&](engine& on) -> task<void> {
               const counted_scan sink = co_await scan_photos(on);
               EXPECT_EQ(sink.rows, 900U);
               EXPECT_EQ(sink.bytes, 9U * 500'000 + 891U * 9);
             });
  // Each part ends with a large row, or knows by then that there are no more.
  EXPECT_LT(counted("store_scan_slices_total"), 40);
}

}  // namespace
}  // namespace weft::store::mysql

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/when_all.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/store/scan_token.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/store/sqlite/scan_slice.hpp>

namespace weft::store::sqlite {
namespace {

/// Of a slice: more than the rows here have.
constexpr std::size_t bytes_max = std::size_t{1} << 20U;

/// "1 2 3", and "!" with the kind of a failure.
struct id_sink final : scan_sink {
  void row(std::span<const value> values) override {
    text += (text.empty() ? "" : " ") + std::to_string(values[0].as_integer());
    ++rows;
  }
  void failed(const failure& why) override {
    text += "!" + std::to_string(static_cast<int>(why.kind));
    message = why.message;
  }
  std::string text;
  std::string message;
  std::size_t rows = 0;
};

class engine_scan : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    make_database("shop",
                  "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, s VARCHAR(9), price DECIMAL(9,2));"
                  "CREATE INDEX by_n ON t(n,s);"
                  "INSERT INTO t VALUES(1,10,'a',1.5),(2,NULL,'b',2),(3,10,'a',NULL),(4,5,NULL,4),"
                  "(5,NULL,NULL,5),(6,10,'b',6),(7,20,'a',7);"
                  "CREATE TABLE pairs(a INT, b VARCHAR(9), id INT, PRIMARY KEY(b,a)) WITHOUT ROWID;"
                  "INSERT INTO pairs VALUES(1,'x',1),(2,'x',2),(1,'w',3),(3,'y',4);"
                  "CREATE TABLE keyless(id INT);");
  }

  static scan_request all_of(const table& from) {
    static constexpr column_position id_of_t = 0;
    static constexpr column_position id_of_pairs = 2;
    return {
        .from = &from, .columns = {from.name() == "t" ? &id_of_t : &id_of_pairs, 1}, .limit = 100};
  }

  static task<std::string> scan(engine& shop, const scan_request& request,
                                std::string* continuation = nullptr) {
    id_sink sink;
    auto scanned = co_await shop.scan(request, sink);
    if (!scanned) co_return to_string(scanned.error().code());
    if (continuation != nullptr) *continuation = *scanned;
    co_return sink.text;
  }

  /// In pages of one row, two, ...; each must give what the whole scan does.
  static task<void> expect_in_any_pages(engine& shop, scan_request request,
                                        std::string_view expected) {
    EXPECT_EQ(co_await scan(shop, request), expected);
    for (request.limit = 1; request.limit <= 4; ++request.limit) {
      std::string found;
      std::string token;
      do {
        request.continuation = token;
        std::string next;
        const std::string page = co_await scan(shop, request, &next);
        found += (found.empty() || page.empty() ? "" : " ") + page;
        token = next;
      } while (!token.empty());
      request.continuation = {};
      EXPECT_EQ(found, expected) << "pages of " << request.limit;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(sqlite, engine_scan,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll),
                         backend_name);

TEST_P(engine_scan, goes_by_key_or_index_either_way_in_pages_of_any_size) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    const table& t = *schema->find("shop", "t");
    scan_request request = all_of(t);
    co_await expect_in_any_pages(shop, request, "1 2 3 4 5 6 7");
    request.is_descending = true;
    co_await expect_in_any_pages(shop, request, "7 6 5 4 3 2 1");
    // NULL comes first; equals by their key.
    request.index = 0;
    co_await expect_in_any_pages(shop, request, "7 6 3 1 4 2 5");
    request.is_descending = false;
    co_await expect_in_any_pages(shop, request, "5 2 4 1 3 6 7");
    request = all_of(*schema->find("shop", "pairs"));
    co_await expect_in_any_pages(shop, request, "3 1 2 4");
    request.is_descending = true;
    co_await expect_in_any_pages(shop, request, "4 2 1 3");
    request.limit = 0;
    EXPECT_EQ(co_await scan(shop, request), "");
  });
}

TEST_P(engine_scan, finds_what_is_true_for_its_filter) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    const table& t = *schema->find("shop", "t");
    scan_request request = all_of(t);
    using enum filter_kind;
    struct expectation {
      filter where;
      std::string_view ids;
    };
    const filter is_ten{.kind = equal, .column = 1, .with = value::integer(10)};
    const filter is_a{.kind = equal, .column = 2, .with = value::text("a")};
    const value four = value::text("4.00");
    for (const auto& [where, ids] : std::vector<expectation>{
             {is_ten, "1 3 6"},
             {{.kind = not_equal, .column = 1, .with = value::integer(10)}, "4 7"},
             {{.kind = less, .column = 3, .with = four}, "1 2"},
             {{.kind = less_or_equal, .column = 3, .with = four}, "1 2 4"},
             {{.kind = greater, .column = 3, .with = four}, "5 6 7"},
             {{.kind = greater_or_equal, .column = 3, .with = four}, "4 5 6 7"},
             {{.kind = equal, .column = 1, .with = value{}}, ""},
             {{.kind = is_null, .column = 1}, "2 5"},
             {{.kind = is_not_null, .column = 2}, "1 2 3 6 7"},
             {{.kind = both, .left = &is_ten, .right = &is_a}, "1 3"},
             {{.kind = either, .left = &is_ten, .right = &is_a}, "1 3 6 7"},
             {{.kind = not_both, .left = &is_ten, .right = &is_a}, "2 4 6 7"},
             {{.kind = neither, .left = &is_ten, .right = &is_a}, ""},
         }) {
      request.where = &where;
      co_await expect_in_any_pages(shop, request, ids);
    }
  });
}

/// As SQL has it: true, false or neither.
std::optional<bool> truth_of(filter_kind kind, std::optional<bool> left,
                             std::optional<bool> right) {
  const bool is_and = kind == filter_kind::both || kind == filter_kind::not_both;
  const bool decides = !is_and;  // one operand that is so decides it
  std::optional<bool> is;
  if (left == decides || right == decides)
    is = decides;
  else if (left && right)
    is = !decides;
  if (is && (kind == filter_kind::not_both || kind == filter_kind::neither)) is = !*is;
  return is;
}

/// SQLite's parser takes no more than 100 things that are open at a time.
TEST_P(engine_scan, takes_filters_as_deep_as_may_be_of_any_shape) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    scan_request request = all_of(*schema->find("shop", "t"));
    using enum filter_kind;
    constexpr std::array kinds{both, either, not_both, neither};
    const filter is_ten{.kind = equal, .column = 1, .with = value::integer(10)};
    // Of the rows 1 to 7.
    constexpr std::array<std::optional<bool>, 7> ten{true,         std::nullopt, true, false,
                                                     std::nullopt, true,         false};
    for (unsigned shape = 0; shape < 2 * 16; ++shape) {
      const bool is_right = shape % 2 == 0;
      std::array<filter, filter_depth_max> nested{is_ten};
      auto truth = ten;
      for (std::size_t i = 1; i < nested.size(); ++i) {
        const filter_kind kind = kinds[(i % 2 == 0 ? shape / 2 : shape / 8) % 4];
        nested[i] = {.kind = kind,
                     .left = is_right ? &is_ten : &nested[i - 1],
                     .right = is_right ? &nested[i - 1] : &is_ten};
        for (std::size_t row = 0; row < truth.size(); ++row)
          truth[row] = truth_of(kind, truth[row], ten[row]);
      }
      std::string ids;
      for (std::size_t row = 0; row < truth.size(); ++row)
        if (truth[row] == true) ids += (ids.empty() ? "" : " ") + std::to_string(row + 1);
      request.where = &nested.back();
      EXPECT_EQ(co_await scan(shop, request), ids) << shape;
    }
  });
}

TEST_P(engine_scan, finds_what_is_in_one_of_its_ranges) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    scan_request request = all_of(*schema->find("shop", "t"));
    const std::vector<value> two{value::integer(2)};
    const std::vector<value> four{value::integer(4)};
    const std::vector<value> six{value::integer(6)};
    std::vector<key_range> ranges{{.lower = {two, false}, .upper = {four}}};
    request.ranges = ranges;
    co_await expect_in_any_pages(shop, request, "3 4");
    ranges.push_back({.lower = {six}});
    request.ranges = ranges;
    co_await expect_in_any_pages(shop, request, "3 4 6 7");
    const std::vector<value> ten_a{value::integer(10), value::text("a")};
    const std::vector<value> ten{value::integer(10)};
    ranges = {{.lower = {ten_a, false}, .upper = {ten}}};
    request.ranges = ranges;
    request.index = 0;
    co_await expect_in_any_pages(shop, request, "6");
    ranges = {{}};
    request.ranges = ranges;
    co_await expect_in_any_pages(shop, request, "5 2 4 1 3 6 7");
  });
}

TEST_P(engine_scan, refuses_what_is_out_of_bounds) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    scan_request request = all_of(*schema->find("shop", "t"));
    std::vector<filter> deep(filter_depth_max + 1, {.kind = filter_kind::is_not_null});
    for (std::size_t i = 0; i + 1 < deep.size(); ++i)
      deep[i] = {.kind = filter_kind::both, .left = &deep[i + 1], .right = &deep.back()};
    request.where = &deep[1];
    EXPECT_EQ(co_await scan(shop, request), "1 2 3 4 5 6 7");
    request.where = deep.data();
    EXPECT_EQ(co_await scan(shop, request), "limit_exceeded");
    request.where = nullptr;
    std::vector<key_range> ranges(key_ranges_max + 1);
    request.ranges = std::span{ranges}.first(key_ranges_max);
    EXPECT_EQ(co_await scan(shop, request), "1 2 3 4 5 6 7");
    request.ranges = ranges;
    EXPECT_EQ(co_await scan(shop, request), "limit_exceeded");
    request = all_of(*schema->find("shop", "keyless"));
    EXPECT_EQ(co_await scan(shop, request), "invalid_argument");
  });
}

TEST_P(engine_scan, refuses_a_continuation_that_is_not_its_own) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    scan_request request = all_of(*schema->find("shop", "t"));
    request.limit = 2;
    std::string token;
    EXPECT_EQ(co_await scan(shop, request, &token), "1 2");
    request.continuation = token;
    EXPECT_EQ(co_await scan(shop, request), "3 4");
    request.is_descending = true;
    EXPECT_EQ(co_await scan(shop, request), "invalid_argument");
    request.is_descending = false;
    request.index = 0;
    EXPECT_EQ(co_await scan(shop, request), "invalid_argument");
    request.index.reset();
    for (const std::string& wrong :
         {std::string{"x"}, std::string{"AAAA"}, token + token, token.substr(4)}) {
      request.continuation = wrong;
      EXPECT_EQ(co_await scan(shop, request), "invalid_argument") << wrong;
    }
  });
}

TEST_P(engine_scan, goes_on_in_slices) {
  run_sql("shop",
          "INSERT INTO t(id,n) WITH RECURSIVE c(x) AS (SELECT 100 UNION ALL SELECT x+1 FROM c "
          "WHERE x<2099) SELECT x,x%3 FROM c");
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    scan_request request = all_of(*schema->find("shop", "t"));
    request.limit = 1500;
    request.index = 0;
    id_sink sink;
    const auto scanned = co_await shop.scan(request, sink);
    EXPECT_TRUE(scanned && !scanned->empty());
    EXPECT_EQ(sink.rows, 1500U);
    request.limit = 100'000;
    request.continuation = *scanned;
    const auto rest = co_await shop.scan(request, sink);
    EXPECT_TRUE(rest && rest->empty());
    EXPECT_EQ(sink.rows, 2007U);
  });
}

TEST_P(engine_scan, notices_a_changed_schema) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    const scan_request request = all_of(*schema->find("shop", "t"));
    run_sql("shop", "CREATE TABLE other(a INT)");
    EXPECT_EQ(co_await scan(shop, request), "1 2 3 4 5 6 7");
    run_sql("shop", "ALTER TABLE t ADD COLUMN more INT");
    EXPECT_EQ(co_await scan(shop, request),
              "!" + std::to_string(static_cast<int>(failure_kind::schema_changed)));
  });
}

TEST_P(engine_scan, ends_when_its_time_is_up) {
  run_sql("shop",
          "INSERT INTO t(id,n) WITH RECURSIVE c(x) AS (SELECT 100 UNION ALL SELECT x+1 FROM c "
          "WHERE x<20000) SELECT x,x FROM c");
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    scan_request request = all_of(*schema->find("shop", "t"));
    const filter none{.kind = filter_kind::less, .column = 1, .with = value::integer(0)};
    request.where = &none;
    auto files = storage::open(options_);
    auto version = (**(*files)->reader("shop")).number("PRAGMA schema_version");
    scan_slice slice{
        **files, *version, request, {}, 10, bytes_max, {.until = std::chrono::steady_clock::now()}};
    slice.run();
    EXPECT_TRUE(slice.is_late());
    EXPECT_EQ(slice.fault().message, "");
    EXPECT_EQ(co_await scan(shop, request), "");
  });
}

TEST_P(engine_scan, ends_in_the_midst_of_a_slice_when_it_is_asked_to) {
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    scan_request request = all_of(*schema->find("shop", "t"));
    run_sql("shop",
            "INSERT INTO t(id,n) WITH RECURSIVE c(x) AS (SELECT 100 UNION ALL SELECT x+1 FROM c "
            "WHERE x<20000) SELECT x,x FROM c");
    const filter none{.kind = filter_kind::less, .column = 1, .with = value::integer(0)};
    request.where = &none;
    auto files = storage::open(options_);
    auto version = (**(*files)->reader("shop")).number("PRAGMA schema_version");
    scan_slice slice{**files, *version, request, {}, 10, bytes_max, {}};
    slice.stop();
    slice.run();
    EXPECT_TRUE(slice.is_stopped());
    EXPECT_EQ(slice.fault().message, "");
    stop_source ends;
    ends.request_stop();
    id_sink sink;
    const auto scanned = co_await shop.scan(request, sink).in({.stop = ends.token()});
    EXPECT_EQ(scanned ? errc{} : scanned.error(), errc::cancelled);
  });
}

TEST_P(engine_scan, leaves_threads_to_others) {
  if (GetParam() == backend_kind::simulated) GTEST_SKIP() << "scans would end at once";
  run_sql("shop",
          "INSERT INTO t(id,n) WITH RECURSIVE c(x) AS (SELECT 100 UNION ALL SELECT x+1 FROM c "
          "WHERE x<100000) SELECT x,x FROM c");
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    scan_request request = all_of(*schema->find("shop", "t"));
    const filter none{.kind = filter_kind::less, .column = 1, .with = value::integer(0)};
    request.where = &none;
    std::size_t ended = 0;
    const auto scan_all = [&]() -> task<void> {
      EXPECT_EQ(co_await scan(shop, request), "");
      ++ended;
    };
    const auto look = [&]() -> task<void> {
      EXPECT_TRUE(co_await blocking([] { return true; }));
      EXPECT_LT(ended, 4U) << "it need not wait for the many before it";
    };
    std::vector<task<void>> all;
    for (int i = 0; i < 12; ++i) all.push_back(scan_all());
    all.push_back(look());
    co_await when_all(std::move(all));
    EXPECT_EQ(ended, 12U);
  });
}

/// What a scan finds whose every slice is over as soon as it looks, and how many slices that takes.
struct slice_walk {
  std::string found;
  int slices = 0;
};
slice_walk walk_in_short_turns(storage& files, std::int64_t version, const scan_request& request) {
  constexpr int slices_max = 10'000;
  slice_walk walk;
  id_sink sink;
  scan_pace pace{.turn = duration::zero()};
  scratch room;
  std::span<const value> place;
  for (bool has_more = true; has_more && walk.slices < slices_max; ++walk.slices) {
    scan_slice slice{files, version, request, place, 10'000, bytes_max, pace};
    slice.run();
    EXPECT_EQ(slice.fault().message, "");
    memory_reservation none;
    const std::size_t told = slice.tell(sink, 0, none);
    has_more = slice.has_more();
    pace.by_steps = pace.by_steps || slice.is_long();
    scratch next;
    const auto last = slice.last_place(told, next);
    if (last.empty()) continue;
    place = last;
    room = std::move(next);
  }
  EXPECT_LT(walk.slices, slices_max) << "it comes further each time";
  walk.found = sink.text;
  return walk;
}

TEST_P(engine_scan, ends_a_turn_that_finds_nothing_and_goes_on_from_there) {
  run_sql("shop",
          "INSERT INTO t(id,n,s) WITH RECURSIVE c(x) AS (SELECT 100 UNION ALL SELECT x+1 FROM c "
          "WHERE x<30000) SELECT x,nullif(x%7,0),nullif(x%3,0) FROM c");
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    const table& t = *schema->find("shop", "t");
    auto files = storage::open(options_);
    auto version = (**(*files)->reader("shop")).number("PRAGMA schema_version");
    using enum filter_kind;
    const filter big{.kind = greater, .column = 0, .with = value::integer(29'990)};
    const filter small{.kind = less, .column = 0, .with = value::integer(110)};
    const filter is_four{.kind = equal, .column = 1, .with = value::integer(4)};
    const filter ends{.kind = neither, .left = &big, .right = &small};
    const filter none{.kind = less, .column = 3, .with = value::text("0.00")};
    const filter both_ends{.kind = either, .left = &big, .right = &small};
    for (const filter* const where : {&both_ends, &ends, &is_four, &none})
      for (const bool is_descending : {false, true})
        for (const auto index : {std::optional<std::size_t>{}, std::optional<std::size_t>{0}}) {
          scan_request request = all_of(t);
          request.limit = 100'000;
          request.where = where;
          request.index = index;
          request.is_descending = is_descending;
          const slice_walk walk = walk_in_short_turns(**files, *version, request);
          EXPECT_EQ(walk.found, co_await scan(shop, request));
          EXPECT_GT(walk.slices, where == &is_four ? 1 : 3);
        }
  });
}

TEST_P(engine_scan, takes_turns_where_one_finds_nothing) {
  if (GetParam() == backend_kind::simulated) GTEST_SKIP() << "its clock stands still";
  run_sql("shop",
          "INSERT INTO t(id,n) WITH RECURSIVE c(x) AS (SELECT 100 UNION ALL SELECT x+1 FROM c "
          "WHERE x<50000) SELECT x,x FROM c");
  options_.scan_turn = std::chrono::microseconds{1};
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    scan_request request = all_of(*schema->find("shop", "t"));
    const filter none{.kind = filter_kind::less, .column = 3, .with = value::text("0.00")};
    scan_request nothing = request;
    nothing.where = &none;
    bool has_ended = false;
    const auto find_nothing = [&]() -> task<void> {
      EXPECT_EQ(co_await scan(shop, nothing), "");
      has_ended = true;
    };
    const auto find_few = [&]() -> task<void> {
      request.limit = 2;
      EXPECT_EQ(co_await scan(shop, request), "1 2");
      EXPECT_FALSE(has_ended) << "it need not wait for all of the one before it";
    };
    std::vector<task<void>> both;
    both.push_back(find_nothing());
    both.push_back(find_few());
    co_await when_all(std::move(both));
    EXPECT_GT(counted("store_scan_slices_total"), 3);
  });
}

TEST_P(engine_scan, lets_no_more_in_than_may_wait) {
  if (GetParam() == backend_kind::simulated) GTEST_SKIP() << "scans would end at once";
  options_.scans_waiting_max = 2;
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    const scan_request request = all_of(*schema->find("shop", "t"));
    std::string all;
    const auto scan_all = [&]() -> task<void> {
      const std::string found = co_await scan(shop, request);
      all += found == "1 2 3 4 5 6 7" ? "." : found;
    };
    std::vector<task<void>> many;
    for (int i = 0; i < 5; ++i) many.push_back(scan_all());
    co_await when_all(std::move(many));
    EXPECT_EQ(all, "limit_exceededlimit_exceeded...");
    EXPECT_EQ(co_await scan(shop, request), "1 2 3 4 5 6 7") << "they have left";
  });
}

TEST_P(engine_scan, yields_between_two_rows) {
  run([&](engine& shop) -> task<void> {
    struct turns_sink final : scan_sink {
      explicit turns_sink(event_loop& on) noexcept : loop{on} {}
      void row(std::span<const value>) override { turns.push_back(loop.turns()); }
      void failed(const failure& why) override { ADD_FAILURE() << why.message; }
      [[nodiscard]] bool is_turn_over() override { return true; }
      event_loop& loop;
      std::vector<std::uint64_t> turns;
    } sink{*loop_};
    const catalog_ref schema = shop.schema();
    EXPECT_TRUE((co_await shop.scan(all_of(*schema->find("shop", "t")), sink)).has_value());
    EXPECT_EQ(sink.turns.size(), 7U);
    // A turn may take the first slice from a thread, with a row, before it runs what is ready.
    for (std::size_t i = 2; i < sink.turns.size(); ++i)
      EXPECT_GT(sink.turns[i], sink.turns[i - 2]) << i;
  });
}

TEST_P(engine_scan, ends_when_its_sink_has_enough) {
  run_sql("shop",
          "INSERT INTO t(id,n) WITH RECURSIVE c(x) AS (SELECT 100 UNION ALL SELECT x+1 FROM c "
          "WHERE x<999) SELECT x,x FROM c");
  run([&](engine& shop) -> task<void> {
    const catalog_ref schema = shop.schema();
    scan_request request = all_of(*schema->find("shop", "t"));
    request.limit = 10'000;
    struct small_sink final : scan_sink {
      void row(std::span<const value>) override { ++rows; }
      void failed(const failure& why) override { ADD_FAILURE() << why.message; }
      [[nodiscard]] bool is_full() const override { return rows >= 300; }
      std::size_t rows = 0;
    } sink;
    const auto scanned = co_await shop.scan(request, sink);
    EXPECT_TRUE(scanned && !scanned->empty());
    EXPECT_EQ(sink.rows, 512U) << "it is asked after each slice";
  });
}

}  // namespace
}  // namespace weft::store::sqlite

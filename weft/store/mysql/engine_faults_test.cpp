// What an engine tells when the way to its server breaks, at every place in turn: what was asked
// for all the same, or the truth about what was done.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/net/proxy_test.hpp>
#include <weft/store/mysql/engine_fixture_test.hpp>
#include <weft/testing/allocation_failure.hpp>

namespace weft::store::mysql {
namespace {

using side = net::test_proxy::side;

/// How messages of a client begin, after their four bytes of length and number.
constexpr std::string_view commit_command{"\3COMMIT"};
constexpr std::string_view begin_command{"\3START TRANSACTION"};
constexpr std::string_view execute_command{"\x17"};

/// A server's answer that it has failed, as the second message of an exchange.
std::string error_answer(unsigned number) {
  std::string told{'\xff', static_cast<char>(number), static_cast<char>(number >> 8)};
  told += "#HY000it failed";
  return std::string{static_cast<char>(told.size()), '\0', '\0', '\1'} + told;
}

/// When it is told to, breaks one way off or says something else than the server.
class breaking_proxy : public net::test_proxy {
 public:
  using test_proxy::test_proxy;

  /// Once `who` has said so many more bytes.
  void break_after(side who, std::size_t bytes) {
    breaks_ = true;
    who_ = who;
    left_ = bytes;
  }
  /// The server does what the next such command asks for, and its client hears of a failure.
  void belie(std::string_view command, unsigned number) {
    belied_ = command;
    lie_ = error_answer(number);
  }
  /// The next such command does not come to the server, whose client hears of a failure.
  void refuse(std::string_view command, unsigned number) {
    belie(command, number);
    refuses_ = true;
  }
  /// Whether it has not come to that.
  [[nodiscard]] bool is_to_break() const noexcept { return breaks_; }

 private:
  task<bool> on_text(said& by, std::string& text) override {
    if (by.whose == side::client && is_belied(text)) {
      belied_ = {};
      is_lying_ = !std::exchange(refuses_, false);
      if (!is_lying_) {
        text.clear();
        co_return (co_await by.from.write(std::string{lie_})).has_value();
      }
    } else if (by.whose == side::server && std::exchange(is_lying_, false)) {
      text = lie_;
    }
    if (!breaks_ || by.whose != who_) co_return true;
    breaks_ = text.size() <= left_;
    text.resize(std::min(text.size(), left_));
    left_ -= text.size();
    co_return breaks_;
  }
  [[nodiscard]] bool is_belied(std::string_view text) const noexcept {
    return !belied_.empty() && text.size() > 4 && text.substr(4).starts_with(belied_);
  }

  bool breaks_ = false;
  side who_ = side::client;
  std::size_t left_ = 0;
  std::string_view belied_;
  std::string lie_;
  bool refuses_ = false;
  bool is_lying_ = false;
};

class mysql_engine_faults : public engine_fixture {
 protected:
  static constexpr std::size_t bytes_max = 20'000;

  /// Runs `body` with an engine whose only connection goes through a proxy; where that fails,
  /// through `others`.
  template <class Body>
  void run_behind_proxy(Body body, std::string_view others = {}) {
    breaking_proxy proxy{*loop_, server_.unix_socket()};
    beside_ = [&proxy] { return proxy.serve(); };
    options_.server = proxy.address().to_string().append(others);
    options_.connections_max = 1;
    options_.retry_first = std::chrono::milliseconds{1};
    run_engine({"CREATE TABLE t(id INT PRIMARY KEY, v VARCHAR(20))",
                "CREATE TABLE s(k VARCHAR(20) PRIMARY KEY, v INT)",
                "INSERT INTO t SELECT seq, CONCAT('v', seq) FROM seq_1_to_5",
                "INSERT INTO s VALUES('a',1),('b',2)"},
               [&](engine& on) -> task<void> { co_await body(on, proxy); });
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_engine_faults, kernel_backends, backend_name);

TEST_P(mysql_engine_faults, a_server_that_does_not_know_how_much_it_takes_is_used) {
  breaking_proxy proxy{*loop_, server_.unix_socket()};
  proxy.refuse("\3SELECT @@max_allowed_packet", 1193);
  beside_ = [&proxy] { return proxy.serve(); };
  options_.server = proxy.address().to_string();
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES(1, 5)"},
             [&](engine& on) -> task<void> {
               EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), "[5]");
               EXPECT_EQ(counted("store_connect_failures_total"), 0);
             });
}

TEST_P(mysql_engine_faults, a_way_that_breaks_at_any_byte_is_no_matter_to_who_reads) {
  run_behind_proxy([&](engine& on, breaking_proxy& proxy) -> task<void> {
    for (const side who : {side::client, side::server}) {
      std::size_t bytes = 0;
      for (bool is_through = false; !is_through && bytes < bytes_max; ++bytes) {
        proxy.break_after(who, bytes);
        EXPECT_EQ(co_await look_up(on, "t", {{value::integer(4)}, {value::integer(9)}}),
                  "[\"v4\"] -")
            << "after " << bytes << " bytes";
        EXPECT_EQ(co_await look_up(on, "s", {{value::text("B")}, {value::text("a")}}), "[2] [1]");
        is_through = proxy.is_to_break();
        if (::testing::Test::HasFailure()) co_return;
      }
      EXPECT_GT(bytes, 50U);
      EXPECT_LT(bytes, bytes_max);
    }
    EXPECT_GT(counted("store_reads_retried_total"), 100);
  });
}

TEST_P(mysql_engine_faults, a_way_that_breaks_at_any_byte_is_no_matter_to_who_scans_or_queries) {
  run_behind_proxy([&](engine& on, breaking_proxy& proxy) -> task<void> {
    const catalog_ref schema = on.schema();
    const table& t = find(on, "t");
    const column_position columns[] = {0};
    const scan_request request{.from = &t, .columns = columns, .limit = 3};
    for (const side who : {side::client, side::server}) {
      std::size_t bytes = 0;
      for (bool is_through = false; !is_through && bytes < bytes_max; ++bytes) {
        proxy.break_after(who, bytes);
        noted_scan rows{request};
        const auto rest = co_await on.scan(request, rows);
        EXPECT_TRUE(rest && !rest->empty()) << "after " << bytes << " bytes";
        EXPECT_EQ(rows.text, "[1] [2] [3]");
        noted_query found;
        const auto is_all = co_await on.query(
            {.database = database, .text = "SELECT id FROM t WHERE id < 3"}, found);
        // One that has been told of columns is not begun again.
        if (is_all)
          EXPECT_EQ(found.text, "id [1] [2]");
        else
          EXPECT_EQ(is_all.error(), errc::unavailable);
        is_through = proxy.is_to_break();
        if (::testing::Test::HasFailure()) co_return;
        // The next scan goes by a connection that is there.
        proxy.break_after(who, bytes_max * 100);
        co_await look_up(on, "t", {{value::integer(1)}});
      }
      EXPECT_LT(bytes, bytes_max);
    }
  });
}

TEST_P(mysql_engine_faults, a_way_that_breaks_at_any_byte_hides_from_nobody_what_was_written) {
  run_behind_proxy([&](engine& on, breaking_proxy& proxy) -> task<void> {
    const catalog_ref schema = on.schema();
    const table& t = find(on, "t");
    std::int64_t id = 100;
    int unknown = 0;
    struct part {
      std::size_t from;
      std::size_t size;
    };
    for (const auto [from, size] : {part{0, 1}, part{1, 1}, part{0, 2}})
      for (const side who : {side::client, side::server}) {
        std::size_t bytes = 0;
        for (bool is_through = false; !is_through && bytes < bytes_max; ++bytes, id += 2) {
          const value keys[] = {value::integer(id), value::integer(id + 1)};
          const key_write both[] = {{write_kind::insert, &t, {&keys[0], 1}},
                                    {write_kind::upsert, &t, {&keys[1], 1}}};
          proxy.break_after(who, bytes);
          noted_writes told;
          const auto written = co_await on.write(std::span{both}.subspan(from, size), told);
          is_through = proxy.is_to_break();
          proxy.break_after(who, bytes_max * 100);  // what comes now goes through
          const std::string there =
              co_await sql("SELECT COUNT(*) FROM t WHERE id BETWEEN " + std::to_string(id) +
                           " AND " + std::to_string(id + 1));
          const std::string all = std::to_string(size);
          EXPECT_TRUE(written) << "what was lost before its commit is made anew";
          if (told.text.starts_with("ok")) {
            EXPECT_EQ(told.text, size == 1 ? "ok" : "ok ok");
            EXPECT_EQ(there, all) << bytes;
          } else {
            EXPECT_EQ(told.text, size == 1 ? "!unknown" : "!unknown !unknown");
            EXPECT_TRUE(there == "0" || there == all) << there;
            EXPECT_NE(told.message.find("nobody knows"), std::string::npos) << told.message;
            ++unknown;
          }
          if (::testing::Test::HasFailure()) co_return;
          // The next one goes by a connection that is there.
          co_await look_up(on, "t", {{value::integer(1)}});
        }
        EXPECT_LT(bytes, bytes_max);
      }
    EXPECT_GT(unknown, 10);
    EXPECT_GT(counted("store_writes_retried_total"), 100);
  });
}

TEST_P(mysql_engine_faults, memory_that_runs_out_anywhere_hides_from_nobody_what_was_written) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "the malloc is a sanitizer's";
  options_.connections_max = 1;
  options_.retry_first = std::chrono::milliseconds{1};
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, v VARCHAR(20))"}, [&](engine& on) -> task<void> {
    const catalog_ref schema = on.schema();
    const table& t = find(on, "t");
    std::int64_t id = 100;
    for (const std::size_t size : {1U, 2U}) {
      std::uint64_t nth = 0;
      for (bool has_failed = true; has_failed; ++nth, id += 2) {
        const value keys[] = {value::integer(id), value::integer(id + 1)};
        const key_write both[] = {{write_kind::insert, &t, {&keys[0], 1}},
                                  {write_kind::insert, &t, {&keys[1], 1}}};
        noted_writes told;
        told.text.reserve(256);
        bool is_told = false;
        bool is_refused = false;
        try {
          const testing::allocation_failures here{nth + 1, testing::failing::once};
          const auto written = co_await on.write(std::span{both}.first(size), told);
          is_told = written.has_value();
          is_refused = !is_told;
          has_failed = here.has_failed();
        } catch (const std::bad_alloc&) {
          is_told = false;  // who hears nothing relies on nothing
        }
        const std::string there =
            co_await sql("SELECT COUNT(*) FROM t WHERE id >= " + std::to_string(id));
        EXPECT_TRUE(there == "0" || there == std::to_string(size)) << there;
        if (is_told && told.text.starts_with("ok")) {
          EXPECT_EQ(there, std::to_string(size)) << nth;
        }
        const bool is_unknown = told.text.starts_with("!unknown");
        if (is_refused || (is_told && told.text.starts_with("!") && !is_unknown)) {
          EXPECT_EQ(there, "0") << nth << ": " << told.text;
        }
        if (::testing::Test::HasFailure()) co_return;
        // The next one goes by a connection that is there.
        co_await look_up(on, "t", {{value::integer(1)}});
        if (nth > 5'000) has_failed = false;
      }
      EXPECT_LT(nth, 5'000U);
    }
  });
}

TEST_P(mysql_engine_faults, what_a_server_says_of_a_commit_is_believed_only_where_it_is_sure) {
  if (is_secured()) GTEST_SKIP() << "what a proxy cannot read it does not change";
  run_behind_proxy([&](engine& on, breaking_proxy& proxy) -> task<void> {
    const catalog_ref schema = on.schema();
    const table& t = find(on, "t");
    std::int64_t id = 100;
    const auto told = [&](std::size_t size, std::string_view command,
                          unsigned number) -> task<std::string> {
      id += 2;
      const value keys[] = {value::integer(id), value::integer(id + 1)};
      const key_write both[] = {{write_kind::insert, &t, {&keys[0], 1}},
                                {write_kind::insert, &t, {&keys[1], 1}}};
      proxy.belie(command, number);
      noted_writes noted;
      EXPECT_TRUE(co_await on.write(std::span{both}.first(size), noted));
      EXPECT_EQ(co_await sql("SELECT COUNT(*) FROM t WHERE id >= " + std::to_string(id)),
                std::to_string(size))
          << "the server has done it, whatever it says";
      // Beyond the pause that a server has which was given up.
      EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{2}));
      co_return noted.text + " " + std::string{noted.message.substr(0, noted.message.find(','))};
    };
    const std::string unknown = "!unknown";
    const std::string why = " the server failed while it committed";
    for (const unsigned number : {1047U, 1053U, 1180U, 1317U})
      EXPECT_EQ(co_await told(2, commit_command, number), unknown + " " + unknown + why) << number;
    EXPECT_EQ(co_await told(1, execute_command, 1180), unknown + why);
    EXPECT_EQ(co_await told(1, execute_command, 1213), "!busy it failed (error 1213 of the server");
    EXPECT_EQ(co_await told(2, commit_command, 1213),
              "!busy !busy it failed (error 1213 of the server");
  });
}

TEST_P(mysql_engine_faults, a_write_that_a_node_does_not_begin_is_made_anew_on_the_next) {
  if (is_secured()) GTEST_SKIP() << "what a proxy cannot read it does not change";
  struct batch {
    std::string_view refused;
    std::size_t size;
  };
  for (const auto [refused, size] : {batch{execute_command, 1}, batch{begin_command, 2}})
    run_behind_proxy(
        [&](engine& on, breaking_proxy& proxy) -> task<void> {
          const catalog_ref schema = on.schema();
          const table& t = find(on, "t");
          const value keys[] = {value::integer(100), value::integer(101)};
          const key_write both[] = {{write_kind::insert, &t, {&keys[0], 1}},
                                    {write_kind::insert, &t, {&keys[1], 1}}};
          // After what the engine says in passing of the statements that it began with.
          co_await look_up(on, "t", {{value::integer(1)}});
          proxy.refuse(refused, 1047);
          noted_writes told;
          EXPECT_TRUE(co_await on.write(std::span{both}.first(size), told));
          EXPECT_EQ(told.text, size == 1 ? "ok" : "ok ok");
          EXPECT_EQ(counted("store_writes_retried_total"), 1);
          EXPECT_EQ(co_await sql("SELECT COUNT(*) FROM t WHERE id >= 100"), std::to_string(size));
        },
        "," + server_.tcp().to_string());
}

TEST_P(mysql_engine_faults, a_read_that_waits_in_vain_for_a_cluster_is_made_anew_on_the_next) {
  if (is_secured()) GTEST_SKIP() << "what a proxy cannot read it does not change";
  // Where there is no other, it is no matter of a cluster, and the server is not given up.
  for (const auto& [others, given_up] :
       {std::pair{"," + server_.tcp().to_string(), 1}, std::pair{std::string{}, 0}}) {
    run_behind_proxy(
        [&](engine& on, breaking_proxy& proxy) -> task<void> {
          proxy.belie(execute_command, 1205);
          EXPECT_EQ(co_await look_up(on, "t", {{value::integer(4)}}), "[\"v4\"]");
          EXPECT_EQ(counted("store_reads_retried_total"), 1);
          EXPECT_EQ(counted("store_servers_given_up_total"), given_up);
        },
        others);
    run_behind_proxy(
        [&](engine& on, breaking_proxy& proxy) -> task<void> {
          const catalog_ref schema = on.schema();
          const column_position columns[] = {0};
          const scan_request request{.from = &find(on, "t"), .columns = columns, .limit = 3};
          noted_scan rows{request};
          proxy.belie(execute_command, 1205);
          EXPECT_TRUE(co_await on.scan(request, rows));
          EXPECT_EQ(rows.text, "[1] [2] [3]");
          EXPECT_EQ(counted("store_servers_given_up_total"), given_up);
        },
        others);
  }
}

TEST_P(mysql_engine_faults, a_server_that_is_killed_in_the_middle_of_a_batch_is_told) {
  run_engine({"CREATE TABLE t(id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES(1,1)"},
             [&](engine& on) -> task<void> {
               const catalog_ref schema = on.schema();
               const table& t = find(on, "t");
               EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), "[1]");
               EXPECT_TRUE(on.is_reachable());
               server_.kill();
               EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}),
                         error{errc::unavailable}.message());
               EXPECT_FALSE(on.is_reachable());
               const value key = value::integer(2);
               const key_write one{write_kind::insert, &t, {&key, 1}};
               noted_writes told;
               EXPECT_EQ((co_await on.write({&one, 1}, told)).error(), errc::unavailable);
               server_.start();
               for (int i = 0; i < 200 && !on.is_reachable(); ++i) {
                 EXPECT_TRUE(co_await sleep_for(*loop_, std::chrono::milliseconds{50}));
                 co_await look_up(on, "t", {{value::integer(1)}});
               }
               EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}, {value::integer(2)}}),
                         "[1] -");
             });
}

}  // namespace
}  // namespace weft::store::mysql

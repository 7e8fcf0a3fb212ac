// What an engine tells when the way to its server breaks, at every place in turn: what was asked
// for all the same, or the truth about what was done.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/net/connector.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/store/mysql/engine_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

enum class side : std::uint8_t { client, server };

/// Passes bytes on between clients and a server, and breaks one way off when it is told to.
class breaking_proxy {
 public:
  breaking_proxy(event_loop& loop, net::endpoint server)
      : loop_{loop},
        server_{std::move(server)},
        door_{std::move(*net::tcp_listener::bind(loop, net::endpoint::loopback(0)))} {}

  [[nodiscard]] std::string address() const { return door_.local_endpoint().to_string(); }
  /// Once `who` has said so many more bytes.
  void break_after(side who, std::size_t bytes) {
    breaks_ = true;
    who_ = who;
    left_ = bytes;
  }
  /// Whether it has not come to that.
  [[nodiscard]] bool is_to_break() const noexcept { return breaks_; }

  /// Until the task is asked to stop.
  task<void> serve() {
    scope clients{co_await this_task::environment()};
    while (auto client = co_await door_.accept()) clients.spawn(pass_on(std::move(*client)));
    clients.request_stop();
    co_await clients.join();
  }

 private:
  task<void> pass_on(net::tcp_stream client) {
    auto names = net::resolver::create(loop_);
    auto server = co_await net::connect(loop_, *names, server_.to_string());
    if (server) {
      scope both{co_await this_task::environment()};
      both.spawn(pass(client, *server, side::client, both));
      both.spawn(pass(*server, client, side::server, both));
      co_await both.join();
      std::ignore = co_await server->close();
    }
    std::ignore = co_await client.close();
  }

  task<void> pass(net::tcp_stream& from, net::tcp_stream& to, side whose, scope& both) {
    while (auto bytes = co_await from.read()) {
      if (bytes->size() == 0) break;
      std::string text{bytes->text()};
      const bool is_meant = breaks_ && whose == who_;
      const bool is_last = is_meant && text.size() > left_;
      if (is_last) text.resize(left_);
      if (is_meant) left_ -= text.size();
      if (!text.empty() && !co_await to.write(std::move(text))) break;
      if (is_last) {
        breaks_ = false;
        break;
      }
    }
    both.request_stop();
  }

  event_loop& loop_;
  net::endpoint server_;
  net::tcp_listener door_;
  bool breaks_ = false;
  side who_ = side::client;
  std::size_t left_ = 0;
};

class mysql_engine_faults : public engine_fixture {
 protected:
  static constexpr std::size_t bytes_max = 20'000;

  /// Runs `body` with an engine whose only connection goes through a proxy.
  template <class Body>
  void run_behind_proxy(Body body) {
    breaking_proxy proxy{*loop_, server_.unix_socket()};
    beside_ = [&proxy] { return proxy.serve(); };
    options_.server = proxy.address();
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
    for (const std::size_t size : {1U, 2U})
      for (const side who : {side::client, side::server}) {
        std::size_t bytes = 0;
        for (bool is_through = false; !is_through && bytes < bytes_max; ++bytes, id += 2) {
          const value keys[] = {value::integer(id), value::integer(id + 1)};
          const key_write both[] = {{write_kind::insert, &t, {&keys[0], 1}},
                                    {write_kind::upsert, &t, {&keys[1], 1}}};
          proxy.break_after(who, bytes);
          noted_writes told;
          const auto written = co_await on.write(std::span{both}.first(size), told);
          is_through = proxy.is_to_break();
          proxy.break_after(who, bytes_max * 100);  // what comes now goes through
          const std::string there =
              co_await sql("SELECT COUNT(*) FROM t WHERE id BETWEEN " + std::to_string(id) +
                           " AND " + std::to_string(id + 1));
          const std::string all = std::to_string(size);
          if (!written) {
            EXPECT_EQ(written.error(), errc::unavailable);
            EXPECT_EQ(there, "0") << bytes;
          } else if (told.text.starts_with("ok")) {
            EXPECT_EQ(told.text, size == 1 ? "ok" : "ok ok");
            EXPECT_EQ(there, all) << bytes;
          } else {
            EXPECT_EQ(told.text, size == 1 ? "!input_output" : "!input_output !input_output");
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
  });
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

// Tables of a batch are asked for side by side, on several connections.

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/event.hpp>
#include <weft/net/proxy_test.hpp>
#include <weft/store/mysql/engine_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

/// Holds back what the server says when told to.
class holding_proxy : public net::test_proxy {
 public:
  holding_proxy(event_loop& loop, net::endpoint server) : test_proxy{loop, std::move(server)} {
    may_answer_.set();
  }

  /// The server is heard again once so many clients have asked something.
  void hold_until(std::size_t clients) {
    awaited_ = clients;
    asking_.clear();
    may_answer_.reset();
  }

 private:
  task<bool> on_text(said& by, std::string&) override {
    if (by.whose == side::server) co_return (co_await may_answer_.wait()).has_value();
    asking_.insert(by.client);
    if (asking_.size() >= awaited_) may_answer_.set();
    co_return true;
  }

  event may_answer_;
  std::set<std::size_t> asking_;
  std::size_t awaited_ = 0;
};

class mysql_engine_parallel : public engine_fixture {
 protected:
  static constexpr std::size_t tables = 6;

  /// Runs `body` with an engine that goes through a proxy, and a batch of a row of each table.
  template <class Body>
  void run_behind_proxy(Body body) {
    holding_proxy proxy{*loop_, server_.unix_socket()};
    beside_ = [&proxy] { return proxy.serve(); };
    options_.server = proxy.address().to_string();
    options_.read_time = std::chrono::seconds{20};  // for who waits in vain
    run_engine({"CREATE TABLE t0(id INT PRIMARY KEY, v INT)", "INSERT INTO t0 VALUES(1,0),(2,1)",
                "CREATE TABLE t1 SELECT * FROM t0", "ALTER TABLE t1 ADD PRIMARY KEY(id)",
                "CREATE TABLE t2 SELECT * FROM t0", "ALTER TABLE t2 ADD PRIMARY KEY(id)",
                "CREATE TABLE t3 SELECT * FROM t0", "ALTER TABLE t3 ADD PRIMARY KEY(id)",
                "CREATE TABLE t4 SELECT * FROM t0", "ALTER TABLE t4 ADD PRIMARY KEY(id)",
                "CREATE TABLE t5 SELECT * FROM t0", "ALTER TABLE t5 ADD PRIMARY KEY(id)"},
               [&](engine& on) -> task<void> { co_await body(on, proxy); });
  }

  /// So many connections, all of which have logged in.
  static task<void> connect(engine& on, holding_proxy& proxy, std::size_t wanted) {
    for (int i = 0; i < 100 && proxy.clients() < wanted; ++i) co_await look_up_in(on, tables);
    EXPECT_EQ(proxy.clients(), wanted);
  }

  /// Of rows 1, 2 and none of the first so many tables, in turn.
  static task<std::string> look_up_in(engine& on, std::size_t count) {
    const catalog_ref schema = on.schema();
    const value keys[] = {value::integer(1), value::integer(2), value::integer(3)};
    std::vector<key_read> operations;
    for (const value& key : keys)
      for (std::size_t i = 0; i < count; ++i) {
        const table& from = find(on, "t" + std::to_string(i));
        operations.push_back({&from, {&key, 1}, from.values()});
      }
    noted_reads sink{operations};
    const auto read = co_await on.read(operations, sink);
    co_return read ? sink.text : read.error().message();
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_engine_parallel, kernel_backends, backend_name);

TEST_P(mysql_engine_parallel, tables_of_a_batch_are_asked_for_at_once) {
  run_behind_proxy([&](engine& on, holding_proxy& proxy) -> task<void> {
    co_await connect(on, proxy, 4);
    // Answered only once all three were asked for.
    proxy.hold_until(3);
    EXPECT_EQ(co_await look_up_in(on, 3), "[0] [0] [0] [1] [1] [1] - - -");
    proxy.hold_until(3);
    EXPECT_EQ(co_await look_up_in(on, 3), "[0] [0] [0] [1] [1] [1] - - -");
  });
}

TEST_P(mysql_engine_parallel, so_many_at_a_time_and_no_more) {
  run_behind_proxy([&](engine& on, holding_proxy& proxy) -> task<void> {
    co_await connect(on, proxy, 4);
    proxy.hold_until(4);
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(co_await look_up_in(on, tables),
                "[0] [0] [0] [0] [0] [0] [1] [1] [1] [1] [1] [1] - - - - - -");
    EXPECT_EQ(co_await look_up_in(on, 1), "[0] [1] -");
    EXPECT_EQ(proxy.clients(), 4U);
  });
}

TEST_P(mysql_engine_parallel, one_connection_does_it_all_where_there_are_no_others) {
  options_.connections_max = 1;
  run_behind_proxy([&](engine& on, holding_proxy& proxy) -> task<void> {
    EXPECT_EQ(co_await look_up_in(on, 3), "[0] [0] [0] [1] [1] [1] - - -");
    EXPECT_EQ(proxy.clients(), 1U);
  });
}

}  // namespace
}  // namespace weft::store::mysql

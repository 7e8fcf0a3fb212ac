#include <weft/store/mysql/packet_gate.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/loop/memory_share.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/mysql/mariadb_server_test.hpp>

namespace weft::store::mysql {
namespace {

using std::chrono::milliseconds;

class mysql_long_row_test : public mysql_fixture {
 protected:
  /// Runs `body` with a connection by a Unix socket, and with one by TLS.
  template <class Body>
  void run_both(Body body) {
    run([&](connection& plain) -> task<void> { co_await body(plain); });
    run([&](connection&) -> task<void> {
      connection secured{*loop_};
      connection_options account = mariadb_server::account();
      account.tls = {.mode = tls_mode::required};
      EXPECT_TRUE(co_await secured.open(server_.tcp(), account)) << secured.last_failure().message;
      if (secured.is_open()) co_await body(secured);
    });
  }

  [[nodiscard]] std::size_t reserved() const {
    return loop_->memory().in_use(memory_kind::queries);
  }
  /// As others would: nothing is left for normal work.
  [[nodiscard]] memory_reservation take_all() {
    constexpr std::size_t more = 8UL * 1024 * 1024;
    memory_share& all = loop_->memory();
    const std::size_t most = all.budget().ceiling(memory_priority::normal);
    return all.hold(memory_kind::bodies, most - all.budget().taken() + more);
  }
};
INSTANTIATE_TEST_SUITE_P(on, mysql_long_row_test, kernel_backends, backend_name);

TEST_P(mysql_long_row_test, comes_whole_and_is_reserved_as_long_as_it_is_there) {
  run_both([&](connection& by) -> task<void> {
    auto select = co_await by.prepare("SELECT REPEAT('x', ?), REPEAT('y', 3)");
    EXPECT_TRUE(select);
    for (const std::int64_t size : {60'000, 70'000, 300, 4'000'000, 250}) {
      const value length = value::integer(size);
      EXPECT_TRUE(co_await by.begin(*select, {&length, 1})) << by.last_failure().message;
      EXPECT_TRUE((co_await by.fetch(*select)).value_or(false)) << by.last_failure().message;
      const auto bytes = static_cast<std::size_t>(size);
      EXPECT_TRUE(select->row()[0].as_text() == std::string(bytes, 'x')) << size;
      EXPECT_EQ(select->row()[1].as_text(), "yyy");
      EXPECT_EQ(by.has_long_row(), size > 64 * 1024);
      if (by.has_long_row()) EXPECT_GE(reserved(), 2 * bytes + told_bytes(bytes, 2));
      EXPECT_EQ((co_await by.fetch(*select)).value_or(true), false);
      EXPECT_EQ(reserved(), 0U);
    }
  });
}

/// The protocol has no packet of more than 16 MiB.
TEST_P(mysql_long_row_test, of_several_packets_comes_whole) {
  run_both([&](connection& by) -> task<void> {
    auto select = co_await by.prepare("SELECT REPEAT('x', 12000000), REPEAT('y', 13000000), 7");
    EXPECT_TRUE(select);
    EXPECT_TRUE(co_await by.begin(*select, {}));
    EXPECT_TRUE((co_await by.fetch(*select)).value_or(false)) << by.last_failure().message;
    EXPECT_TRUE(select->row()[0].as_text() == std::string(12'000'000, 'x'));
    EXPECT_TRUE(select->row()[1].as_text() == std::string(13'000'000, 'y'));
    EXPECT_EQ(select->row()[2].as_integer(), 7);
    EXPECT_GE(reserved(), std::size_t{50'000'000} + told_bytes(25'000'000, 3));
    by.give_back_row();
    EXPECT_EQ(reserved(), 0U);
    EXPECT_EQ((co_await by.fetch(*select)).value_or(true), false);
  });
}

TEST_P(mysql_long_row_test, is_not_read_where_there_is_no_memory_though_it_has_come) {
  run_both([&](connection& by) -> task<void> {
    auto select = co_await by.prepare("SELECT REPEAT('x', 100000)");
    EXPECT_TRUE(select);
    const memory_reservation others = take_all();
    EXPECT_TRUE(co_await by.begin(*select, {}));
    EXPECT_TRUE(co_await sleep_for(*loop_, milliseconds{100}));  // it is in the socket by then
    const auto row = co_await by.fetch(*select);
    EXPECT_FALSE(row);
    if (!row) EXPECT_EQ(row.error(), errc::exhausted);
    EXPECT_EQ(by.last_failure().kind, failure_kind::no_memory);
    EXPECT_FALSE(by.is_open()) << "what comes next would be the rest of the row";
    EXPECT_EQ(reserved(), 0U);
  });
}

TEST_P(mysql_long_row_test, that_nobody_wants_is_not_waited_for) {
  run_both([&](connection& by) -> task<void> {
    auto select = co_await by.prepare("SELECT REPEAT('x', 100000) FROM seq_1_to_3");
    EXPECT_TRUE(select);
    EXPECT_TRUE(co_await by.begin(*select, {}));
    EXPECT_TRUE((co_await by.fetch(*select)).value_or(false));
    EXPECT_TRUE((co_await by.fetch(*select, row_wait::none)).value_or(false)) << "there is memory";
    const std::uint64_t waits = loop_->memory().gauges().waits;
    const memory_reservation others = take_all();
    const auto row = co_await by.fetch(*select, row_wait::none);
    EXPECT_FALSE(row);
    if (!row) EXPECT_EQ(row.error(), errc::exhausted);
    EXPECT_EQ(loop_->memory().gauges().waits, waits);
    EXPECT_FALSE(by.is_open());
  });
}

}  // namespace
}  // namespace weft::store::mysql

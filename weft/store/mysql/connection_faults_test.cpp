// What becomes of a connection when the way to the server fails, or its task is asked to stop, at
// every place in turn.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/net/proxy_test.hpp>
#include <weft/store/mysql/mariadb_server_test.hpp>

namespace weft::store::mysql {
namespace {

/// Breaks off once the server has said so many bytes.
class cutting_proxy : public net::test_proxy {
 public:
  cutting_proxy(event_loop& loop, net::endpoint server, std::size_t said_max)
      : test_proxy{loop, std::move(server)}, left_{said_max} {}

  /// Whether it had to break off.
  [[nodiscard]] bool has_cut() const noexcept { return has_cut_; }

 private:
  task<bool> on_text(said& by, std::string& text) override {
    if (by.whose == side::server) {
      has_cut_ = text.size() > left_;
      text.resize(std::min(text.size(), left_));
      left_ -= text.size();
    }
    co_return !has_cut_;
  }

  std::size_t left_;
  bool has_cut_ = false;
};

/// Everything that a connection does; whether all of it was done.
task<bool> use(connection& server, net::endpoint where) {
  if (!co_await server.open(where, mariadb_server::account())) co_return false;
  auto find = co_await server.prepare("SELECT seq, REPEAT('x', 9) FROM seq_1_to_9 WHERE seq < ?");
  if (!find) co_return false;
  const value key[] = {value::integer(4)};
  if (!co_await server.execute(*find, key)) co_return false;
  EXPECT_EQ(text_of(*find), "1u 'xxxxxxxxx'|2u 'xxxxxxxxx'|3u 'xxxxxxxxx'");
  if (!co_await server.run("SELECT 1")) co_return false;
  co_return (co_await server.ping()).has_value();
}

class mysql_faults_test : public mysql_fixture {};

INSTANTIATE_TEST_SUITE_P(on, mysql_faults_test, kernel_backends, backend_name);

TEST_P(mysql_faults_test, a_way_that_breaks_at_any_byte_fails_the_call_and_ends_the_connection) {
  bool is_through = false;
  for (std::size_t said_max = 0; !is_through && said_max < 5'000; ++said_max) {
    cutting_proxy proxy{*loop_, server_.unix_socket(), said_max};
    connection server{*loop_};
    std::optional<bool> was_done;
    loop_->spawn(proxy.serve_one());
    loop_->spawn([](connection& on, net::endpoint where, auto& done) -> task<void> {
      done = co_await use(on, std::move(where));
      on.close();
    }(server, proxy.address(), was_done));
    loop_->run();
    is_through = !proxy.has_cut();
    EXPECT_EQ(was_done, is_through) << "after " << said_max << " bytes of the server";
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_TRUE(is_through);
}

TEST_P(mysql_faults_test, a_stop_request_in_any_turn_ends_the_call_or_comes_too_late) {
  bool is_through = false;
  for (int turns = 0; !is_through && turns < 2'000; ++turns) {
    connection server{*loop_};
    std::optional<bool> was_done;
    loop_->spawn([](event_loop& loop, connection& on, net::endpoint where, int after,
                    auto& done) -> task<void> {
      scope calls{co_await this_task::environment()};
      calls.spawn([](connection& used, net::endpoint to, auto& outcome) -> task<void> {
        outcome = co_await use(used, std::move(to));
      }(on, std::move(where), done));
      for (int i = 0; i < after && !done; ++i) co_await yield{loop};
      calls.request_stop();
      co_await calls.join();
      if (on.is_open()) EXPECT_TRUE(co_await on.ping()) << "open is to mean that it is good";
    }(*loop_, server, server_.unix_socket(), turns + turns * turns / 16, was_done));
    loop_->run();
    is_through = was_done == true;
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_TRUE(is_through);
}

}  // namespace
}  // namespace weft::store::mysql

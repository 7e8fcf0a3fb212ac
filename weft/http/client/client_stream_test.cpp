// Bodies piece by piece, either way, no faster than the slower side.
#include <weft/http/client/client_stream.hpp>

#include <string>
#include <tuple>

#include <weft/coro/with_deadline.hpp>
#include <weft/http/body_reader.hpp>
#include <weft/http/body_writer.hpp>
#include <weft/http/request.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::client_fixture;
using testing::scripted_server;
using testing::take_request;
using namespace std::chrono_literals;

class client_streams : public client_fixture {
 protected:
  static task<std::string> read_to_end(client_stream& from) {
    std::string all;
    while (auto piece = co_await from.read()) all += *piece;
    co_return all;
  }
};
INSTANTIATE_TEST_SUITE_P(on, client_streams, backends, backend_name);

TEST_P(client_streams, read_what_comes_and_give_the_connection_back) {
  const std::string large(300'000, 's');
  http().get("/large", [&] { return large; });
  http().get("/none", [] {});
  run_with_client([&](client& asking) -> task<void> {
    for (int i = 0; i < 3; ++i) {
      auto stream = co_await asking.open({method::get, url("/large")});
      EXPECT_TRUE(stream.has_value()) << stream.error().message();
      EXPECT_EQ(stream->status(), status::ok);
      EXPECT_EQ(stream->header("content-length"), "300000");
      EXPECT_EQ(stream->outcome(), result<void>{fail(errc::unavailable)});
      EXPECT_TRUE(co_await read_to_end(*stream) == large);
      EXPECT_TRUE(stream->outcome().has_value());
      auto empty = co_await asking.open({method::get, url("/none")});
      EXPECT_EQ(empty->status(), status::no_content);
      EXPECT_EQ(co_await read_to_end(*empty), "");
    }
    EXPECT_EQ(http().connections(), 1U);
  });
}

TEST_P(client_streams, may_be_dropped_when_their_connection_has_long_gone) {
  http().get("/text", [] { return "text"; });
  run_with_client({.idle_timeout = 5ms}, [&](client& asking) -> task<void> {
    auto stream = co_await asking.open({method::get, url("/text")});
    EXPECT_EQ(co_await read_to_end(*stream), "text");
    while (counted("http_client_connections") != 0) std::ignore = co_await sleep_for(loop(), 5ms);
  });
}

TEST_P(client_streams, send_all_that_is_written) {
  std::string taken;
  http().put("/take", [&](body_reader& in) -> task<result<std::string>> {
    taken.clear();
    while (auto piece = co_await in.read()) taken += *piece;
    if (auto whole = in.outcome(); !whole) co_return fail(whole.error());
    co_return in.length() ? "length" : "chunks";
  });
  run_with_client([&](client& asking) -> task<void> {
    for (const bool has_length : {false, true, false}) {
      std::string sent;
      auto upload =
          co_await asking.upload({method::put, url("/take")},
                                 has_length ? std::optional<std::uint64_t>{200'000} : std::nullopt);
      for (int i = 0; i < 4; ++i) {
        const std::string piece(50'000, static_cast<char>('a' + i));
        const auto written = co_await upload->write(piece);
        EXPECT_TRUE(written.has_value()) << written.error().message();
        sent += piece;
      }
      auto answer = co_await upload->finish();
      EXPECT_TRUE(answer.has_value()) << answer.error().message();
      EXPECT_EQ(co_await read_to_end(*answer), has_length ? "length" : "chunks");
      EXPECT_TRUE(taken == sent);
    }
    EXPECT_EQ(http().connections(), 1U);
  });
}

TEST_P(client_streams, hold_to_the_length_that_was_announced) {
  http().put("/take", [](body_reader& in) -> task<result<void>> {
    while (co_await in.read()) {}
    co_return in.outcome();
  });
  run_with_client([&](client& asking) -> task<void> {
    {
      auto upload = co_await asking.upload({method::put, url("/take")}, 3);
      const auto more = co_await upload->write("four");
      EXPECT_EQ(more.error(), errc::invalid_argument);
      const auto less = co_await upload->finish();
      EXPECT_EQ(less.error(), errc::invalid_argument);
      EXPECT_TRUE(less.error().message().contains("0 of the 3 bytes")) << less.error().message();
    }
    EXPECT_EQ(counted("http_client_connections"), 0);
  });
}

TEST_P(client_streams, wait_for_a_server_that_is_slow_to_read) {
  run_against(
      [&](unsigned, peer& to) -> task<void> {
        EXPECT_TRUE(co_await take_request(to));
        std::ignore = co_await sleep_for(loop(), 10s);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        auto upload = co_await asking.upload({method::put, server.url()});
        const std::string piece(30'000, 'x');
        client_result<void> written;
        std::size_t sent = 0;
        while (written && sent < 100'000'000) {
          written = co_await with_timeout(30ms, upload->write(piece));
          sent += piece.size();
        }
        EXPECT_EQ(written.error(), errc::timed_out);
      });
}

TEST_P(client_streams, hear_a_server_that_answers_early) {
  run_against(
      [&](unsigned, peer& to) -> task<void> {
        EXPECT_TRUE(co_await take_request(to));
        co_await to.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
        std::ignore = co_await sleep_for(loop(), 10s);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        auto upload = co_await asking.upload({method::put, server.url()});
        client_result<void> written;
        while (written) written = co_await upload->write(std::string(30'000, 'x'));
        EXPECT_EQ(written.error(), errc::closed);
        auto answer = co_await upload->finish();
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
        EXPECT_EQ(answer->status(), status::content_too_large);
        EXPECT_EQ(co_await read_to_end(*answer), "big");
        EXPECT_EQ(counted("http_client_connections"), 0);
      });
}

TEST_P(client_streams, do_not_call_an_upload_whole_that_was_cut_short) {
  std::string taken;
  run_against(
      [&](unsigned, peer& to) -> task<void> {
        EXPECT_TRUE(co_await take_request(to));
        co_await to.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nall");
        taken = co_await to.rest();
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        auto upload = co_await asking.upload({method::put, server.url()});
        client_result<void> written;
        while (written) written = co_await upload->write(std::string(300'000, 'x'));
        EXPECT_EQ(written.error(), errc::closed);
        EXPECT_EQ((co_await upload->write("more")).error(), errc::closed);
        auto answer = co_await upload->finish();
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
        if (answer) EXPECT_EQ(co_await read_to_end(*answer), "all");
      });
  EXPECT_FALSE(taken.ends_with("\r\n0\r\n\r\n"));
  EXPECT_FALSE(taken.contains("more"));
}

TEST_P(client_streams, go_on_after_a_read_that_was_given_up) {
  run_against(
      [&](unsigned, peer& to) -> task<void> {
        EXPECT_TRUE(co_await take_request(to));
        co_await to.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst");
        std::ignore = co_await sleep_for(loop(), 50ms);
        co_await to.send("later");
        std::ignore = co_await take_request(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        auto stream = co_await asking.open({method::get, server.url()});
        const auto first = co_await stream->read();
        EXPECT_EQ(*first, "first");
        const auto late = co_await with_timeout(5ms, stream->read());
        EXPECT_EQ(late.error(), errc::timed_out);
        EXPECT_EQ(stream->outcome(), result<void>{fail(errc::timed_out)});
        EXPECT_EQ(co_await read_to_end(*stream), "later");
        EXPECT_EQ(counted("http_client_connections"), 1);
      });
}

TEST_P(client_streams, close_the_connection_of_what_is_not_read) {
  const std::string large(300'000, 's');
  http().get("/large", [&] { return large; });
  run_with_client({.connections_per_host = 1}, [&](client& asking) -> task<void> {
    {
      auto stream = co_await asking.open({method::get, url("/large")});
      EXPECT_TRUE((co_await stream->read()).has_value());
      EXPECT_EQ(counted("http_client_connections"), 1);
    }
    EXPECT_EQ(counted("http_client_connections"), 0);
    const auto next = co_await asking.get(url("/large"));
    EXPECT_TRUE(next.has_value());
  });
}

TEST_P(client_streams, tell_a_body_that_broke_off_from_a_whole_one) {
  run_against(
      [](unsigned, peer& to) -> task<void> {
        EXPECT_TRUE(co_await take_request(to));
        co_await to.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort");
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        auto stream = co_await asking.open({method::get, server.url()});
        EXPECT_EQ(co_await read_to_end(*stream), "short");
        EXPECT_EQ(stream->outcome(), result<void>{fail(errc::reset)});
      });
}

TEST_P(client_streams, outlive_a_client_that_stops) {
  const std::string large(300'000, 's');
  http().get("/large", [&] { return large; });
  run([&]() -> task<void> {
    std::optional<client> asking{std::in_place, client_options{}, loop(),
                                 world().metrics().shard(0)};
    auto stream = co_await asking->open({method::get, url("/large")});
    const auto first = co_await stream->read();
    EXPECT_TRUE((co_await with_timeout(5ms, asking->stop())).has_value());
    asking.reset();
    EXPECT_TRUE(large.starts_with(*first)) << "what was read stays";
    const auto late = co_await stream->read();
    EXPECT_EQ(late.error(), errc::cancelled);
  });
}

}  // namespace
}  // namespace weft::http

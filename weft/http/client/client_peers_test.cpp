// The client against servers that do not do as they should: each is a clear error in time, and no
// connection is used after it.
#include <string>
#include <tuple>
#include <vector>

#include <weft/coro/with_deadline.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::client_fixture;
using testing::scripted_server;
using testing::take_request;
using namespace std::chrono_literals;

constexpr std::string_view whole_answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class client_peers : public client_fixture {
 protected:
  /// What comes of a request that is answered with `bytes`, and then with the connection's end.
  void expect_fault(std::string_view bytes, errc why, std::string_view words,
                    client_options options = {}) {
    run_against(
        [bytes](unsigned, peer& to) -> task<void> {
          if (co_await take_request(to)) co_await to.send(bytes);
        },
        std::move(options),
        [&](client& asking, scripted_server& server) -> task<void> {
          const auto answer = co_await asking.get(server.url());
          EXPECT_FALSE(answer.has_value()) << "taken for " << answer->body();
          if (answer) co_return;
          EXPECT_EQ(answer.error(), why) << answer.error().message();
          EXPECT_TRUE(answer.error().message().contains(words)) << answer.error().message();
          EXPECT_TRUE(answer.error().message().contains(server.url()));
          EXPECT_EQ(server.connections(), 1U);
          EXPECT_EQ(counted("http_client_connections"), 0);
        });
  }
};
INSTANTIATE_TEST_SUITE_P(on, client_peers, backends, backend_name);

TEST_P(client_peers, that_say_nothing) {
  expect_fault("", errc::reset, "no response came: the server closed the connection");
}
TEST_P(client_peers, that_break_off_within_the_head) {
  expect_fault("HTTP/1.1 200 OK\r\nContent-", errc::reset, "broke off within its head");
}
TEST_P(client_peers, that_break_off_within_the_body) {
  expect_fault("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", errc::reset,
               "broke off within its body");
}
TEST_P(client_peers, that_break_off_within_chunks) {
  expect_fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", errc::reset,
               "broke off within its body");
}
TEST_P(client_peers, that_speak_something_else) {
  expect_fault("SSH-2.0-OpenSSH_9.2\r\n", errc::protocol_error, "is no HTTP");
}
TEST_P(client_peers, that_frame_wrongly) {
  expect_fault("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
               errc::protocol_error, "is no HTTP");
}
TEST_P(client_peers, that_chunk_wrongly) {
  expect_fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", errc::protocol_error,
               "is no HTTP");
}
TEST_P(client_peers, that_announce_too_much) {
  expect_fault("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", errc::limit_exceeded,
               "the body is too large", {.body_bytes = 1000});
}
TEST_P(client_peers, that_send_too_much) {
  expect_fault("HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'x'), errc::limit_exceeded,
               "the body is too large", {.body_bytes = 1000});
}
TEST_P(client_peers, that_send_endless_fields) {
  std::string bytes = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 90; ++i) bytes += "X-Field: " + std::string(100, 'x') + "\r\n";
  expect_fault(bytes, errc::limit_exceeded, "the head is too long", {.head_bytes = 4000});
}
TEST_P(client_peers, that_send_endless_interim_responses) {
  expect_fault(testing::repeated("HTTP/1.1 102 Wait\r\n\r\n", 100), errc::limit_exceeded, "1xx");
}
TEST_P(client_peers, that_change_the_protocol) {
  expect_fault("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
               errc::protocol_error, "(101)");
}

TEST_P(client_peers, that_are_slow_are_left_at_the_deadline) {
  for (const std::string_view begun :
       {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly"}) {
    serve(GetParam());
    run_against(
        [begun](unsigned, peer& to) -> task<void> {
          const bool has_come = co_await take_request(to);
          EXPECT_TRUE(has_come);
          if (!begun.empty()) co_await to.send(begun);
          const std::string after = co_await to.receive();
          EXPECT_EQ(after, "") << "nothing more is asked";
        },
        {},
        [&](client& asking, scripted_server& server) -> task<void> {
          const auto answer = co_await with_timeout(30ms, asking.get(server.url()));
          EXPECT_EQ(answer.error(), errc::timed_out) << answer.error().message();
          EXPECT_EQ(counted("http_client_connections"), 0);
        });
  }
}

TEST_P(client_peers, that_trickle_are_understood) {
  constexpr std::string_view text =
      "HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  run_against(
      [&](unsigned, peer& to) -> task<void> {
        while (co_await take_request(to))
          for (const char c : text) {
            co_await to.send(std::string_view{&c, 1});
            co_await yield{loop()};
          }
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        for (int i = 0; i < 2; ++i) {
          const auto answer = co_await asking.get(server.url());
          EXPECT_EQ(answer->body(), "abcde");
        }
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_peers, that_end_the_body_with_the_connection) {
  run_against(
      [](unsigned, peer& to) -> task<void> {
        const bool has_come = co_await take_request(to);
        if (has_come) co_await to.send("HTTP/1.1 200 OK\r\n\r\nall of it");
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        const auto answer = co_await asking.get(server.url());
        EXPECT_EQ(answer->body(), "all of it");
        EXPECT_EQ(counted("http_client_connections"), 0);
      });
}

TEST_P(client_peers, that_send_more_than_was_asked_for_are_not_used_again) {
  const std::string more = std::string{whole_answer} + std::string{whole_answer};
  run_against(
      [&](unsigned, peer& to) -> task<void> {
        const bool has_come = co_await take_request(to);
        if (has_come) co_await to.send(more);
        std::ignore = co_await to.receive();
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        for (int i = 0; i < 3; ++i) {
          const auto answer = co_await asking.get(server.url());
          EXPECT_EQ(answer->body(), "ok");
          co_await world().sleep(1ms);
        }
        EXPECT_EQ(server.connections(), 3U);
      });
}

TEST_P(client_peers, that_announce_what_204_has_not_are_not_used_again) {
  run_against(
      [&](unsigned, peer& to) -> task<void> {
        const bool has_come = co_await take_request(to);
        // What the next response seems to be is the content that was announced.
        if (has_come)
          co_await to.send(
              "HTTP/1.1 204 No Content\r\nContent-Length: " + std::to_string(whole_answer.size()) +
              "\r\n\r\n" + std::string{whole_answer});
        std::ignore = co_await to.receive();
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        for (int i = 0; i < 3; ++i) {
          const auto answer = co_await asking.get(server.url());
          EXPECT_TRUE(answer.has_value()) << answer.error().message();
          if (!answer) co_return;
          EXPECT_EQ(answer->status(), status::no_content);
          EXPECT_EQ(answer->body(), "");
        }
        EXPECT_EQ(server.connections(), 3U);
      });
}

TEST_P(client_peers, that_speak_unasked_lose_their_connection) {
  run_against(
      [&](unsigned, peer& to) -> task<void> {
        const bool has_come = co_await take_request(to);
        if (has_come) co_await to.send(whole_answer);
        std::ignore = co_await sleep_for(loop(), 5ms);
        co_await to.send(whole_answer);
        std::ignore = co_await to.receive();
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        std::ignore = co_await asking.get(server.url());
        EXPECT_EQ(counted("http_client_connections"), 1);
        while (counted("http_client_connections") != 0) co_await world().sleep(1ms);
        const auto answer = co_await asking.get(server.url());
        EXPECT_EQ(answer->body(), "ok");
        EXPECT_EQ(server.connections(), 2U);
      });
}

TEST_P(client_peers, that_close_a_kept_connection_are_noticed) {
  run_against(
      [&](unsigned, peer& to) -> task<void> {
        const bool has_come = co_await take_request(to);
        if (has_come) co_await to.send(whole_answer);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        std::ignore = co_await asking.get(server.url());
        while (counted("http_client_connections") != 0) co_await world().sleep(1ms);
        const auto answer = co_await asking.post(server.url(), "once", text_plain);
        EXPECT_EQ(answer->body(), "ok");
        EXPECT_EQ(counted("http_client_retries_total"), 0);
      });
}

/// The first connection takes one request more, and ends instead of answering it.
task<void> end_at_the_second_request(unsigned number, testing::http_client& to) {
  for (unsigned i = 0; number != 0 || i == 0; ++i) {
    const bool has_come = co_await take_request(to);
    if (!has_come) co_return;
    co_await to.send(whole_answer);
  }
  std::ignore = co_await take_request(to);
}

TEST_P(client_peers, that_end_a_kept_connection_are_asked_again) {
  run_against(&end_at_the_second_request, {},
              [&](client& asking, scripted_server& server) -> task<void> {
                std::ignore = co_await asking.get(server.url());
                const auto answer = co_await asking.get(server.url());
                EXPECT_TRUE(answer.has_value()) << answer.error().message();
                EXPECT_EQ(counted("http_client_retries_total"), 1);
                EXPECT_EQ(server.connections(), 2U);
              });
}

TEST_P(client_peers, are_not_asked_again_what_may_not_be_done_twice) {
  run_against(&end_at_the_second_request, {},
              [&](client& asking, scripted_server& server) -> task<void> {
                std::ignore = co_await asking.get(server.url());
                const auto answer = co_await asking.post(server.url(), "once", text_plain);
                EXPECT_EQ(answer.error(), errc::reset);
                EXPECT_EQ(counted("http_client_retries_total"), 0);
                EXPECT_EQ(server.connections(), 1U);
              });
}

TEST_P(client_peers, that_never_answer_are_asked_twice_at_most) {
  run_against(
      [](unsigned number, peer& to) -> task<void> {
        const bool has_come = co_await take_request(to);
        if (!has_come || number != 0) co_return;
        co_await to.send(whole_answer);
        std::ignore = co_await take_request(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        std::ignore = co_await asking.get(server.url());
        const auto answer = co_await asking.get(server.url());
        EXPECT_EQ(answer.error(), errc::reset);
        EXPECT_EQ(server.connections(), 2U);
      });
}

TEST_P(client_peers, that_answer_before_they_have_heard_all_are_heard) {
  run_against(
      [&](unsigned, peer& to) -> task<void> {
        const bool has_come = co_await take_request(to);
        if (!has_come) co_return;
        co_await to.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
        // It reads no more, and does not close either.
        std::ignore = co_await sleep_for(loop(), 10s);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        const auto answer =
            co_await asking.post(server.url(), std::string(20'000'000, 'x'), text_plain);
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
        if (answer) EXPECT_EQ(answer->body(), "big");
        EXPECT_EQ(counted("http_client_connections"), 0);
      });
}

}  // namespace
}  // namespace weft::http

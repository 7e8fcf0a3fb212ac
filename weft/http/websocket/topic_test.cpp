#include <weft/http/websocket/topic.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tests/conformance/websocket_peer.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/allocation_counter.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using namespace std::chrono_literals;
using testing::backend_name;
using testing::backends;
using ws::websocket_peer;

template <class Fixture>
class topic_fixture : public Fixture {
 protected:
  using Fixture::http;
  using Fixture::loop;
  using Fixture::world;

  void subscribe_all_to(topic& news, websocket_options options = {}) {
    http().websocket(
        "/",
        [&](websocket& socket) -> task<void> {
          const subscription to_news{news, socket};
          while (auto message = co_await socket.read()) {}
        },
        std::move(options));
  }
  task<websocket_peer> open(topic& news, std::string_view fields = {}, bool keeps_context = false,
                            std::string_view path = "/") {
    const std::size_t before = news.subscribers();
    websocket_peer peer{co_await world().connect(), loop(), ws::role::client, keeps_context};
    EXPECT_EQ(co_await peer.shake_hands(path, fields), 101);
    while (news.subscribers() == before) co_await yield{loop()};
    co_return peer;
  }
  /// Until nothing more is taken by somebody who reads nothing.
  task<std::size_t> fill(topic& news, std::string_view text) {
    for (std::size_t sent = 0; sent != 10'000; ++sent) {
      if (news.missed() != 0) co_return sent;
      std::ignore = news.publish_now(text);
      if (sent % 10 == 9) std::ignore = co_await sleep_for(loop(), 1ms);
    }
    co_return 0;
  }
};

using topic_test = topic_fixture<testing::each_backend>;
INSTANTIATE_TEST_SUITE_P(on, topic_test, backends, backend_name);

TEST_P(topic_test, gives_all_who_have_subscribed_what_is_published) {
  topic news;
  subscribe_all_to(news);
  run([&]() -> task<void> {
    EXPECT_EQ(news.publish_now("nobody"), 0U);
    std::vector<websocket_peer> peers;
    for (int i = 0; i != 5; ++i) peers.push_back(co_await open(news));
    EXPECT_EQ(news.publish_now("first"), 5U);
    EXPECT_EQ(co_await news.publish("second"), 5U);
    EXPECT_EQ(news.publish_now({message_kind::binary, "\xff"}), 5U);
    EXPECT_EQ(news.publish_now("\xff").error(), errc::invalid_argument);
    const std::string large(100'000, 'x');
    EXPECT_EQ(news.publish_now(large), 5U);
    for (websocket_peer& each : peers) {
      EXPECT_EQ(co_await each.event(), "text first");
      EXPECT_EQ(co_await each.event(), "text second");
      EXPECT_EQ(co_await each.event(), "binary ff");
      EXPECT_EQ(co_await each.event(), "text of 100000 bytes");
    }
    peers.pop_back();
    while (news.subscribers() != 4) co_await yield{loop()};
    EXPECT_EQ(news.publish_now("without one"), 4U);
    EXPECT_EQ(news.missed(), 0U);
  });
  EXPECT_EQ(news.subscribers(), 0U);
}

TEST_P(topic_test, compresses_once_for_all_who_agreed_on_the_same) {
  topic news;
  subscribe_all_to(news, {.compression = websocket_compression::context});
  run([&]() -> task<void> {
    std::vector<websocket_peer> peers;
    constexpr std::string_view extension = "Sec-WebSocket-Extensions: permessage-deflate";
    const std::string single =
        std::string{extension} + "; server_no_context_takeover; client_no_context_takeover\r\n";
    const std::string small =
        std::string{extension} + "; server_no_context_takeover; server_max_window_bits=9\r\n";
    peers.push_back(co_await open(news, single));
    peers.push_back(co_await open(news, single));
    peers.push_back(co_await open(news, small));
    peers.push_back(co_await open(news, std::string{extension} + "\r\n", true));
    peers.push_back(co_await open(news));
    for (int i = 0; i != 3; ++i) {
      EXPECT_EQ(news.publish_now(testing::repeated("again and again ", 100)), 5U);
      EXPECT_EQ(news.publish_now("short"), 5U);
      for (websocket_peer& each : peers) {
        EXPECT_EQ(co_await each.event(), "text of 1600 bytes");
        EXPECT_EQ(co_await each.event(), "text short");
      }
    }
  });
}

TEST_P(topic_test, drops_what_a_slow_one_has_no_room_for) {
  topic news{{.policy = slow_reader::drop, .queued_bytes = 100'000}};
  subscribe_all_to(news);
  run([&]() -> task<void> {
    auto slow = co_await open(news);
    const std::string text(10'000, 'x');
    const std::size_t sent = co_await fill(news, text) - 1;
    EXPECT_GT(sent, 10U);
    EXPECT_EQ(news.missed(), 1U);
    for (std::size_t i = 0; i != sent; ++i) EXPECT_EQ(co_await slow.event(), "text of 10000 bytes");
    EXPECT_EQ(news.publish_now("still there"), 1U);
    EXPECT_EQ(co_await slow.event(), "text still there");
  });
}

TEST_P(topic_test, closes_a_slow_one_where_that_is_the_policy) {
  topic news{{.policy = slow_reader::close, .queued_bytes = 100'000}};
  subscribe_all_to(news);
  run([&]() -> task<void> {
    auto slow = co_await open(news);
    const std::string text(10'000, 'x');
    const std::size_t sent = co_await fill(news, text) - 1;
    EXPECT_EQ(news.publish_now("not any more"), 0U);
    for (std::size_t i = 0; i != sent; ++i) EXPECT_EQ(co_await slow.event(), "text of 10000 bytes");
    EXPECT_EQ(co_await slow.event(), "close 1013 too slow");
  });
}

TEST_P(topic_test, waits_for_slow_ones_and_gives_the_others_theirs_meanwhile) {
  topic news{{.policy = slow_reader::wait}};
  subscribe_all_to(news);
  run([&]() -> task<void> {
    auto slow = co_await open(news);
    auto fast = co_await open(news);
    const std::string text(10'000, 'x');
    std::size_t published = 0;
    for (error why{errc::unavailable}; why != errc::timed_out;) {
      const auto got = co_await with_timeout(20ms, news.publish(text));
      if (!got) why = got.error();
      EXPECT_EQ(co_await fast.event(), "text of 10000 bytes");
      if (got) ++published;
    }
    EXPECT_EQ(news.missed(), 1U);
    scope publishing{co_await this_task::environment()};
    result<std::size_t> got = fail(errc::unavailable);
    publishing.spawn([](topic& of, result<std::size_t>& into) -> task<void> {
      into = co_await of.publish("waited for");
    }(news, got));
    EXPECT_EQ(co_await fast.event(), "text waited for");
    EXPECT_FALSE(got);
    for (std::size_t i = 0; i != published; ++i)
      EXPECT_EQ(co_await slow.event(), "text of 10000 bytes");
    EXPECT_EQ(co_await slow.event(), "text waited for");
    co_await publishing.join();
    EXPECT_EQ(got, 2U);
  });
}

TEST_P(topic_test, goes_on_when_the_one_who_is_waited_for_has_gone) {
  topic news{{.policy = slow_reader::wait}};
  subscribe_all_to(news, {.limits = {.close_timeout = 50ms}});
  run([&]() -> task<void> {
    const std::string text(10'000, 'x');
    scope publishing{co_await this_task::environment()};
    {
      auto slow = co_await open(news);
      for (bool is_full = false; !is_full;)
        is_full = !co_await with_timeout(20ms, news.publish(text));
      publishing.spawn([](topic& of) -> task<void> {
        const auto got = co_await of.publish("to nobody");
        EXPECT_TRUE(got && *got <= 1U);  // the kernel may have taken it yet
      }(news));
      co_await yield{loop()};
    }
    co_await publishing.join();
  });
}

/// In virtual time.
class slow_topic_test : public topic_fixture<testing::in_memory> {
 protected:
  /// Until none of `slow` ones has room.
  task<void> fill_all(topic& news, std::size_t slow) {
    const std::string text(10'000, 'x');
    for (std::uint64_t before = 0; news.missed() - before != slow;) {
      std::ignore = co_await sleep_for(loop(), 1ms);
      before = news.missed();
      std::ignore = news.publish_now(text);
    }
  }
  /// Whether `what` comes within a minute.
  static task<bool> sees(websocket_peer& peer, std::string_view what) {
    co_return co_await with_timeout(
        1min, [](websocket_peer& p, std::string_view wanted) -> task<bool> {
          for (std::string seen = co_await p.event(); seen != "end" && seen != "reset";
               seen = co_await p.event())
            if (seen == wanted) co_return true;
          co_return false;
        }(peer, what));
  }
  static task<void> publish_one(topic& news, std::string_view text, result<std::size_t>& got) {
    got = co_await news.publish(text);
  }
};

TEST_F(slow_topic_test, gives_the_others_theirs_though_one_it_waits_for_is_cut) {
  topic news{{.policy = slow_reader::wait}};
  event may_leave;
  subscribe_all_to(news);
  http().websocket("/leaves", [&](websocket& socket) -> task<void> {
    const subscription to_news{news, socket};
    std::ignore = co_await may_leave.wait();
  });
  run([&]() -> task<void> {
    auto leaves = co_await open(news, {}, false, "/leaves");
    auto stays = co_await open(news);
    co_await fill_all(news, 2);
    scope publishing{co_await this_task::environment()};
    result<std::size_t> got = fail(errc::unavailable);
    publishing.spawn(publish_one(news, "important", got));
    std::ignore = co_await sleep_for(loop(), 1ms);
    may_leave.set();
    std::ignore = co_await sleep_for(loop(), 10s);  // beyond close_timeout
    EXPECT_TRUE(co_await sees(stays, "text important"));
    co_await publishing.join();
    EXPECT_EQ(got, 1U);
  });
}

TEST_F(slow_topic_test, waits_for_all_who_are_slow_at_once) {
  topic news{{.policy = slow_reader::wait}};
  subscribe_all_to(news);
  run([&]() -> task<void> {
    auto stuck = co_await open(news);
    auto reads = co_await open(news);
    co_await fill_all(news, 2);
    const std::uint64_t missed = news.missed();
    scope publishing{co_await this_task::environment()};
    result<std::size_t> got = fail(errc::unavailable);
    publishing.spawn(publish_one(news, "important", got));
    EXPECT_TRUE(co_await sees(reads, "text important"));
    EXPECT_EQ(news.publish_now("more"), 1U);
    EXPECT_TRUE(co_await sees(reads, "text more"));
    publishing.request_stop();
    co_await publishing.join();
    EXPECT_TRUE(!got && got.error() == errc::cancelled);
    EXPECT_EQ(news.missed(), missed + 2) << "the one who is stuck missed both";
  });
}

TEST_F(slow_topic_test, goes_by_what_is_queued_and_not_by_who_waits_to_send) {
  topic news{{.policy = slow_reader::close}};
  bool waits = false;
  http().websocket("/", [&](websocket& socket) -> task<void> {
    const subscription to_news{news, socket};
    const std::string text(10'000, 'y');
    for (int i = 0; i != 200; ++i) {
      waits = true;
      EXPECT_TRUE(co_await socket.send(text));
      waits = false;
    }
    EXPECT_TRUE(co_await socket.send_part({message_kind::text, "one "}, false));
    EXPECT_EQ(news.publish_now("within a message"), 0U);
    EXPECT_EQ(news.missed(), 1U);
  });
  run([&]() -> task<void> {
    auto peer = co_await open(news);
    std::ignore = co_await sleep_for(loop(), 100ms);
    EXPECT_TRUE(waits);
    EXPECT_EQ(news.publish_now("before those who wait"), 1U);
    EXPECT_EQ(news.missed(), 0U);
    EXPECT_TRUE(co_await sees(peer, "text before those who wait"));
    EXPECT_TRUE(co_await sees(peer, "close 1013 too slow"));
  });
}

}  // namespace
}  // namespace weft::http

// The client over HTTP/2 where the server answers before it has heard all, says too much, or takes
// nothing any more.
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <weft/coro/scope.hpp>
#include <weft/http/client/client_over_http2_test.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::http {
namespace {

using testing::data_frame;
using testing::head_frame;
using testing::http2_frame;
using testing::http2_peer;
using testing::literal_field;
using testing::scripted_server;
using testing::status_200;
using testing::window_frame;
using namespace std::chrono_literals;

constexpr std::uint32_t much = 100'000'000;

task<void> open_windows(http2_peer& to, unsigned stream) {
  co_await to.send(window_frame(0, much));
  co_await to.send(window_frame(stream, much));
}

/// The last of what comes for a stream: what ends it.
task<std::optional<http2_frame>> end_of_request(http2_peer& to) {
  for (;;) {
    auto frame = co_await to.next();
    if (!frame || frame->type == NGHTTP2_RST_STREAM) co_return frame;
    if ((frame->flags & NGHTTP2_FLAG_END_STREAM) != 0) co_return frame;
  }
}

task<void> expect_answer(client_upload& upload, status expected, std::string_view body) {
  auto answer = co_await upload.finish();
  EXPECT_TRUE(answer.has_value()) << answer.error().message();
  if (!answer) co_return;
  EXPECT_EQ(answer->status(), expected);
  std::string read;
  while (auto piece = co_await answer->read()) read += *piece;
  EXPECT_TRUE(answer->outcome().has_value());
  EXPECT_EQ(read, body);
}

TEST_P(client_over_http2, does_not_call_an_upload_whole_that_was_cut_short) {
  std::optional<http2_frame> last;
  run_over_http2(
      [&](unsigned, http2_peer& to) -> task<void> {
        const unsigned stream = co_await to.next_request();
        std::ignore = co_await to.next();
        co_await to.send(head_frame(stream, status_200));
        std::ignore = co_await sleep_for(loop(), 50ms);
        co_await to.send(data_frame(stream, "stored"));
        last = co_await end_of_request(to);
        co_await answer_all(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        {
          auto upload = co_await asking.upload({method::put, server.url()});
          EXPECT_TRUE((co_await upload->write("the first half")).has_value());
          const std::string large(200'000, 'u');
          EXPECT_EQ((co_await upload->write(large)).error(), errc::closed);
          EXPECT_EQ((co_await upload->write("more")).error(), errc::closed);
          co_await expect_answer(*upload, status::ok, "stored");
        }
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        EXPECT_EQ(server.connections(), 1U);
      });
  EXPECT_TRUE(last && last->type == NGHTTP2_RST_STREAM);
}

TEST_P(client_over_http2, does_not_call_an_upload_whole_that_is_shorter_than_announced) {
  std::optional<http2_frame> last;
  run_over_http2(
      [&](unsigned, http2_peer& to) -> task<void> {
        const unsigned stream = co_await to.next_request();
        co_await to.answer(stream, "enough");
        last = co_await end_of_request(to);
        co_await answer_all(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        {
          auto upload = co_await asking.upload({method::put, server.url()}, 1'000);
          EXPECT_TRUE((co_await upload->write("some")).has_value());
          std::ignore = co_await sleep_for(loop(), 10ms);
          co_await expect_answer(*upload, status::ok, "enough");
        }
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        EXPECT_EQ(server.connections(), 1U);
      });
  EXPECT_TRUE(last && last->type == NGHTTP2_RST_STREAM);
}

TEST_P(client_over_http2, hears_an_early_answer_though_the_connection_is_full) {
  run_over_http2(
      [this](unsigned, http2_peer& to) -> task<void> {
        const unsigned stream = co_await to.next_request();
        co_await open_windows(to, stream);
        std::ignore = co_await sleep_for(loop(), 50ms);
        co_await to.send(head_frame(stream, literal_field(":status", "413")));
        std::ignore = co_await sleep_for(loop(), 50ms);
        scope beside{co_await this_task::environment()};
        beside.spawn([](event_loop& on, http2_peer& by, unsigned id) -> task<void> {
          std::ignore = co_await sleep_for(on, 50ms);
          co_await by.send(data_frame(id, "too large"));
        }(loop(), to, stream));
        const auto last = co_await end_of_request(to);
        EXPECT_TRUE(last && last->payload == testing::big_endian(NGHTTP2_CANCEL));
        co_await beside.join();
        co_await answer_all(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        {
          auto upload = co_await asking.upload({method::put, server.url()});
          {
            const std::string large(50'000'000, 'u');
            EXPECT_EQ((co_await upload->write(large)).error(), errc::closed);
          }
          co_await expect_answer(*upload, status::content_too_large, "too large");
        }
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_over_http2, sends_many_fields_and_refuses_to_send_far_too_many) {
  run_over_http2([](unsigned, http2_peer& to) { return answer_all(to); }, {},
                 [&](client& asking, scripted_server& server) -> task<void> {
                   const auto ask = [&](int fields) {
                     client_request request{method::post, server.url()};
                     for (int i = 0; i < fields; ++i)
                       request.header("X-Field", std::string(4'000, 'v'));
                     return asking.send(std::move(request));
                   };
                   const auto answer = co_await ask(20);
                   EXPECT_TRUE(answer.has_value()) << answer.error().message();
                   const auto refused = co_await ask(300);
                   EXPECT_EQ(refused.error(), errc::limit_exceeded) << refused.error().message();
                   EXPECT_TRUE((co_await ask(1)).has_value());
                   EXPECT_EQ(server.connections(), 1U);
                   EXPECT_EQ(counted("http_client_retries_total"), 0);
                 });
}

TEST_P(client_over_http2, takes_a_coded_body_that_is_empty) {
  struct kind {
    method how;
    std::string_view status;
    std::string_view length;
  };
  constexpr kind kinds[] = {{method::head, "200", "1000"},
                            {method::get, "304", "1000"},
                            {method::get, "200", "0"},
                            {method::get, "200", ""}};
  run_over_http2(
      [&](unsigned, http2_peer& to) -> task<void> {
        for (const kind& each : kinds) {
          const unsigned stream = co_await to.next_request();
          std::string fields =
              literal_field(":status", each.status) + literal_field("content-encoding", "gzip");
          if (!each.length.empty()) fields += literal_field("content-length", each.length);
          co_await to.send(head_frame(stream, fields));
          std::ignore = co_await sleep_for(loop(), 1ms);
          co_await to.send(data_frame(stream, ""));
        }
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        for (const kind& each : kinds) {
          const auto answer = co_await asking.send({each.how, server.url()});
          EXPECT_TRUE(answer.has_value()) << answer.error().message();
          if (answer) EXPECT_EQ(answer->body(), "");
        }
      });
}

TEST_P(client_over_http2, reads_nothing_behind_a_head_that_it_refuses) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        const unsigned stream = co_await to.next_request();
        std::string all;
        for (int i = 0; i < 18; ++i)
          all += to_bytes(head_frame(stream, literal_field(":status", "103")));
        all += to_bytes(head_frame(stream, literal_field("x-sum", "9"), true));
        co_await to.send_raw(all);
        co_await answer_all(to);
      },
      {},
      [](client& asking, scripted_server& server) -> task<void> {
        const auto answer = co_await asking.get(server.url());
        EXPECT_EQ(answer.error(), errc::limit_exceeded) << answer.error().message();
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
      });
}

TEST_P(client_over_http2, gives_a_lost_connection_up_at_once_though_it_is_full) {
  run_over_http2(
      [this](unsigned number, http2_peer& to) -> task<void> {
        if (number != 0) co_return co_await answer_all(to);
        co_await open_windows(to, co_await to.next_request());
        std::ignore = co_await sleep_for(loop(), 50ms);
        to.end_output();
        std::ignore = co_await sleep_for(loop(), 1h);
      },
      {.connections_per_host = 1},
      [&](client& asking, scripted_server& server) -> task<void> {
        const auto lost =
            co_await asking.post(server.url(), std::string(50'000'000, 'u'), text_plain);
        EXPECT_EQ(lost.error(), errc::reset) << lost.error().message();
        const time_point began = loop().now();
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        EXPECT_LE(loop().now() - began, 100ms);
      });
}

}  // namespace
}  // namespace weft::http

// The client over HTTP/2, against a server that says frame by frame what it is told.
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <weft/coro/with_deadline.hpp>
#include <weft/http/client/client_over_http2_test.hpp>

namespace weft::http {
namespace {

using testing::data_frame;
using testing::goaway_frame;
using testing::head_frame;
using testing::http2_peer;
using testing::literal_field;
using testing::reset_frame;
using testing::scripted_server;
using testing::settings_frame;
using testing::status_200;
using testing::window_frame;
using namespace std::chrono_literals;

INSTANTIATE_TEST_SUITE_P(in_memory, client_over_http2, ::testing::Values(backend_kind::simulated),
                         testing::backend_name);

TEST_P(client_over_http2, shares_a_connection_and_takes_answers_in_any_order) {
  run_over_http2(
      [this](unsigned, http2_peer& to) -> task<void> {
        co_await to.answer(co_await to.next_request(), "first");
        const unsigned one = co_await to.next_request();
        const unsigned two = co_await to.next_request();
        EXPECT_EQ(two, one + 2);
        co_await to.answer(two, "two");
        std::ignore = co_await sleep_for(loop(), 1ms);
        co_await to.answer(one, "one");
        EXPECT_EQ(co_await to.next_request(), 0U);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        std::vector<std::string> order;
        co_await ask_into(asking, server.url(), order);
        scope both{co_await this_task::environment()};
        both.spawn(ask_into(asking, server.url("/one"), order));
        std::ignore = co_await sleep_for(loop(), 1ms);
        both.spawn(ask_into(asking, server.url("/two"), order));
        co_await both.join();
        EXPECT_EQ(order, (std::vector<std::string>{"first", "two", "one"}));
        EXPECT_EQ(server.connections(), 1U);
        EXPECT_EQ(counted("http_client_connections"), 1);
        EXPECT_EQ(counted("http_client_connections_reused_total"), 2);
      });
}

TEST_P(client_over_http2, takes_the_head_as_http1_would) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        const unsigned stream = co_await to.next_request();
        co_await to.send(
            head_frame(stream, literal_field(":status", "103") + literal_field("link", "</a>")));
        co_await to.send(
            head_frame(stream, std::string{testing::status_404} + literal_field("x-a", "b")));
        co_await to.send(data_frame(stream, "some", false));
        co_await to.send(data_frame(stream, "thing", false));
        co_await to.send(head_frame(stream, literal_field("x-sum", "9"), true));
      },
      {},
      [](client& asking, scripted_server& server) -> task<void> {
        const auto answer = co_await asking.get(server.url());
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
        EXPECT_EQ(answer->status(), status::not_found);
        EXPECT_EQ(answer->header("X-A"), "b");
        EXPECT_FALSE(answer->header("link").has_value());
        EXPECT_FALSE(answer->header("x-sum").has_value());
        EXPECT_EQ(answer->body(), "something");
      });
}

/// What would be a line of its own to HTTP/1.1 makes a response malformed, wherever it stands.
TEST_P(client_over_http2, refuses_fields_with_line_ends_or_nul) {
  using namespace std::string_literals;
  static const std::vector<std::string> wrong{"b\r\nc: d"s, "b\nc"s, "b\rc"s, "b\0c"s};
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        for (const std::string& value : wrong) {
          unsigned stream = co_await to.next_request();
          co_await to.send(
              head_frame(stream, std::string{status_200} + literal_field("x-a", value)));
          co_await to.send(data_frame(stream, "head"));
          stream = co_await to.next_request();
          co_await to.send(
              head_frame(stream, literal_field(":status", "103") + literal_field("link", value)));
          co_await to.send(head_frame(stream, status_200));
          co_await to.send(data_frame(stream, "interim"));
          stream = co_await to.next_request();
          co_await to.send(head_frame(stream, status_200));
          co_await to.send(data_frame(stream, "trailers", false));
          co_await to.send(head_frame(stream, literal_field("x-sum", value), true));
        }
        co_await answer_all(to);
      },
      {},
      [](client& asking, scripted_server& server) -> task<void> {
        for (std::size_t i = 0; i < 3 * wrong.size(); ++i) {
          const auto answer = co_await asking.get(server.url());
          EXPECT_FALSE(answer.has_value()) << i << ": " << answer->body();
        }
        EXPECT_TRUE((co_await asking.get(server.url())).has_value()) << "the connection stays";
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_over_http2, asks_again_what_was_refused) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        co_await to.send(reset_frame(co_await to.next_request(), NGHTTP2_REFUSED_STREAM));
        co_await answer_all(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        const auto answer = co_await asking.post(server.url(), "a POST", text_plain);
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
        EXPECT_EQ(server.connections(), 1U);
        EXPECT_EQ(counted("http_client_retries_total"), 1);
      });
}

TEST_P(client_over_http2, goes_elsewhere_when_the_server_leaves) {
  run_over_http2(
      [](unsigned number, http2_peer& to) -> task<void> {
        if (number != 0) co_return co_await answer_all(to);
        const unsigned last = co_await to.next_request();
        const unsigned beyond = co_await to.next_request();
        co_await to.send(goaway_frame(last));
        EXPECT_GT(beyond, last);
        co_await to.answer(last, "the last");
        EXPECT_EQ(co_await to.next_request(), 0U);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        std::vector<std::string> order;
        scope both{co_await this_task::environment()};
        // Both on one connection: the second waits for the first's, which is known to be HTTP/2.
        both.spawn(ask_into(asking, server.url("/last"), order));
        std::ignore = co_await sleep_for(loop(), 1ms);
        both.spawn(ask_into(asking, server.url("/beyond"), order));
        co_await both.join();
        EXPECT_EQ(order.size(), 2U);
        EXPECT_TRUE(std::ranges::contains(order, "the last"));
        EXPECT_TRUE(std::ranges::contains(order, "ok"));
        EXPECT_EQ(server.connections(), 2U);
      });
}

TEST_P(client_over_http2, says_what_a_stream_was_reset_with_and_keeps_the_connection) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        unsigned stream = co_await to.next_request();
        co_await to.send(reset_frame(stream, NGHTTP2_INTERNAL_ERROR));
        stream = co_await to.next_request();
        co_await to.send(head_frame(stream, status_200));
        co_await to.send(data_frame(stream, "half", false));
        co_await to.send(reset_frame(stream, NGHTTP2_CANCEL));
        co_await answer_all(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        auto answer = co_await asking.post(server.url(), "x", text_plain);
        EXPECT_EQ(answer.error(), errc::reset);
        EXPECT_TRUE(answer.error().message().contains(
            "no response came: the server has reset the stream: INTERNAL_ERROR"))
            << answer.error().message();
        answer = co_await asking.get(server.url());
        EXPECT_TRUE(answer.error().message().contains("broke off within its body"))
            << answer.error().message();
        EXPECT_TRUE(answer.error().message().contains("CANCEL")) << answer.error().message();
        answer = co_await asking.get(server.url());
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_over_http2, says_that_it_has_reset_a_stream_itself) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        unsigned stream = co_await to.next_request();
        // No response at all: a field with a capital letter makes it malformed.
        co_await to.send(head_frame(stream, std::string{status_200} + literal_field("Bad", "x")));
        stream = co_await to.next_request();
        // More content than its length says.
        co_await to.send(
            head_frame(stream, std::string{status_200} + literal_field("content-length", "1")));
        co_await to.send(data_frame(stream, "two"));
        co_await answer_all(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        for (int i = 0; i < 2; ++i) {
          const auto answer = co_await asking.post(server.url(), "x", text_plain);
          EXPECT_FALSE(answer.has_value());
          if (answer) co_return;
          const std::string& said = answer.error().message();
          EXPECT_EQ(answer.error(), errc::protocol_error) << said;
          EXPECT_TRUE(said.contains("this client has reset the stream: PROTOCOL_ERROR")) << said;
          EXPECT_FALSE(said.contains("the server has reset")) << said;
        }
        const auto answer = co_await asking.get(server.url());
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
      });
}

TEST_P(client_over_http2, tells_all_whose_connection_ends) {
  run_over_http2(
      [](unsigned number, http2_peer& to) -> task<void> {
        if (number != 0) co_return co_await answer_all(to);
        const unsigned stream = co_await to.next_request();
        co_await to.send(head_frame(stream, status_200));
        co_await to.send(data_frame(stream, "half", false));
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        auto answer = co_await asking.get(server.url());
        EXPECT_EQ(answer.error(), errc::reset);
        EXPECT_TRUE(answer.error().message().contains("the server closed the connection"))
            << answer.error().message();
        answer = co_await asking.get(server.url());
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
        EXPECT_EQ(server.connections(), 2U);
      });
}

TEST_P(client_over_http2, is_an_error_where_the_server_speaks_none) {
  run_against(
      [](unsigned, peer& to) -> task<void> {
        std::ignore = co_await to.receive();
        co_await to.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
      },
      always(),
      [&](client& asking, scripted_server& server) -> task<void> {
        const auto answer = co_await asking.get(server.url());
        EXPECT_EQ(answer.error(), errc::protocol_error) << answer.error().message();
        std::ignore = co_await sleep_for(loop(), 1ms);
        EXPECT_EQ(counted("http_client_connections"), 0);
      });
}

TEST_P(client_over_http2, leaves_a_connection_that_is_silent_at_a_deadline) {
  run_over_http2(
      [](unsigned number, http2_peer& to) -> task<void> {
        if (number != 0) co_return co_await answer_all(to);
        co_await to.answer(co_await to.next_request(), "ok");
        EXPECT_NE(co_await to.next_request(), 0U);
        const auto after = co_await to.next();
        EXPECT_TRUE(after && after->type == NGHTTP2_RST_STREAM);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        const auto late = co_await with_timeout(30ms, asking.get(server.url()));
        EXPECT_EQ(late.error(), errc::timed_out);
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        EXPECT_EQ(server.connections(), 2U);
      });
}

TEST_P(client_over_http2, has_as_many_streams_as_the_server_allows) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        co_await to.answer(co_await to.next_request(), "ok");
        co_await to.send(settings_frame(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1));
        co_await answer_all(to);
      },
      {.connections_per_host = 1},
      [&](client& asking, scripted_server& server) -> task<void> {
        std::vector<std::string> order;
        co_await ask_into(asking, server.url(), order);
        scope all{co_await this_task::environment()};
        for (int i = 0; i < 5; ++i) all.spawn(ask_into(asking, server.url(), order));
        co_await all.join();
        EXPECT_EQ(order, std::vector<std::string>(6, "ok"));
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_over_http2, serves_who_waits_once_streams_are_allowed) {
  run_over_http2(
      [this](unsigned, http2_peer& to) -> task<void> {
        co_await to.answer(co_await to.next_request(), "ok");
        co_await to.send(settings_frame(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0));
        std::ignore = co_await sleep_for(loop(), 50ms);
        co_await to.send(settings_frame(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1));
        co_await answer_all(to);
      },
      {.connections_per_host = 1},
      [&](client& asking, scripted_server& server) -> task<void> {
        std::vector<std::string> order;
        co_await ask_into(asking, server.url(), order);
        std::ignore = co_await sleep_for(loop(), 10ms);
        co_await ask_into(asking, server.url(), order);
        EXPECT_EQ(order, std::vector<std::string>(2, "ok"));
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_over_http2, sends_no_more_of_a_body_than_there_is_window) {
  const std::string large(100'000, 'u');
  run_over_http2(
      [&](unsigned, http2_peer& to) -> task<void> {
        const unsigned stream = co_await to.next_request();
        std::string heard;
        while (auto frame = co_await to.next()) {
          EXPECT_EQ(frame->type, +NGHTTP2_DATA);
          heard += frame->payload;
          if ((frame->flags & NGHTTP2_FLAG_END_STREAM) != 0) break;
          EXPECT_LE(heard.size(), 100'000U);
          if (heard.size() != 65'535) continue;  // what there is of it at first
          co_await to.send(window_frame(0, 50'000));
          co_await to.send(window_frame(stream, 50'000));
        }
        co_await to.answer(stream, heard == large ? "all" : "not all");
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        const auto answer = co_await asking.post(server.url(), large, text_plain);
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
        EXPECT_EQ(answer->body(), "all");
      });
}

TEST_P(client_over_http2, sends_all_of_a_body_that_there_is_window_for) {
  const std::string large(10'000'000, 'u');
  run_over_http2(
      [&](unsigned, http2_peer& to) -> task<void> {
        const unsigned stream = co_await to.next_request();
        co_await to.send(window_frame(0, 100'000'000));
        co_await to.send(window_frame(stream, 100'000'000));
        std::size_t heard = 0;
        while (const auto frame = co_await to.next()) {
          heard += frame->payload.size();
          if ((frame->flags & NGHTTP2_FLAG_END_STREAM) != 0) break;
        }
        co_await to.answer(stream, std::to_string(heard));
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        const auto answer = co_await asking.post(server.url(), large, text_plain);
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
        if (answer) EXPECT_EQ(answer->body(), std::to_string(large.size()));
      });
}

TEST_P(client_over_http2, gives_up_a_stream_whose_write_was_given_up) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        std::ignore = co_await to.next_request();
        std::optional<testing::http2_frame> last;
        while (auto frame = co_await to.next()) {
          last = frame;
          if (frame->type == NGHTTP2_RST_STREAM) break;
        }
        EXPECT_TRUE(last && last->payload == testing::big_endian(NGHTTP2_CANCEL));
        co_await answer_all(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        auto upload = co_await asking.upload({method::put, server.url()}, 100'000);
        EXPECT_TRUE(upload.has_value()) << upload.error().message();
        {
          const std::string gone(100'000, 'u');
          const auto written = co_await with_timeout(10ms, upload->write(gone));
          EXPECT_EQ(written.error(), errc::timed_out);
        }
        EXPECT_FALSE((co_await upload->finish()).has_value());
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_over_http2, takes_no_more_than_is_read) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        const unsigned stream = co_await to.next_request();
        co_await to.send(head_frame(stream, status_200));
        std::uint32_t allowed = 256 * 1024;
        for (std::uint32_t sent = 0; sent < 1'000'000;) {
          for (; allowed != 0 && sent < 1'000'000; allowed -= 16'384, sent += 16'384)
            co_await to.send(data_frame(stream, std::string(16'384, 'd'), false));
          if (sent >= 1'000'000) break;
          const auto frame = co_await to.next();
          EXPECT_TRUE(frame && frame->type == NGHTTP2_WINDOW_UPDATE);
          if (!frame) co_return;
          std::uint32_t more = 0;
          for (const char c : frame->payload) more = more << 8U | static_cast<unsigned char>(c);
          allowed += more / 16'384 * 16'384;
        }
        co_await to.send(data_frame(stream, ""));
        co_await answer_all(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        auto stream = co_await asking.open({method::get, server.url()});
        std::size_t read = 0;
        std::ignore = co_await sleep_for(loop(), 10ms);
        while (auto piece = co_await stream->read()) read += piece->size();
        EXPECT_TRUE(stream->outcome().has_value());
        EXPECT_GE(read, 1'000'000U);
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_over_http2, resets_a_stream_that_is_dropped) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        const unsigned stream = co_await to.next_request();
        co_await to.send(head_frame(stream, status_200));
        co_await to.send(data_frame(stream, "half", false));
        const auto frame = co_await to.next();
        EXPECT_TRUE(frame && frame->type == NGHTTP2_RST_STREAM);
        co_await answer_all(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        {
          auto stream = co_await asking.open({method::get, server.url()});
          EXPECT_EQ(co_await stream->read(), "half");
        }
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_over_http2, forgets_an_upload_that_was_dropped_while_the_connection_was_full) {
  run_over_http2(
      [this](unsigned, http2_peer& to) -> task<void> {
        const unsigned stream = co_await to.next_request();
        co_await to.send(window_frame(0, 100'000'000));
        co_await to.send(window_frame(stream, 100'000'000));
        std::ignore = co_await sleep_for(loop(), 100ms);
        while (auto frame = co_await to.next())
          if (frame->type == NGHTTP2_RST_STREAM) break;
        co_await answer_all(to);
      },
      {},
      [&](client& asking, scripted_server& server) -> task<void> {
        {
          auto upload = co_await asking.upload({method::put, server.url()});
          const std::string large(50'000'000, 'u');
          const auto written = co_await with_timeout(50ms, upload->write(large));
          EXPECT_EQ(written.error(), errc::timed_out);
        }
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_over_http2, leaves_a_server_that_takes_nothing_any_more) {
  run_over_http2(
      [this](unsigned number, http2_peer& to) -> task<void> {
        if (number != 0) co_return co_await answer_all(to);
        const unsigned stream = co_await to.next_request();
        co_await to.send(window_frame(0, 100'000'000));
        co_await to.send(window_frame(stream, 100'000'000));
        std::ignore = co_await sleep_for(loop(), 1h);
      },
      {.timeout = 1s},
      [&](client& asking, scripted_server& server) -> task<void> {
        auto upload = co_await asking.upload({method::put, server.url()});
        const std::string large(50'000'000, 'u');
        const auto written = co_await with_timeout(1h, upload->write(large));
        EXPECT_EQ(written.error(), errc::timed_out);
        std::ignore = co_await sleep_for(loop(), 2s);
        const auto answer = co_await asking.get(server.url());
        EXPECT_TRUE(answer.has_value()) << answer.error().message();
        EXPECT_EQ(server.connections(), 2U);
      });
}

TEST_P(client_over_http2, says_again_that_a_body_has_ended) {
  run_over_http2([](unsigned, http2_peer& to) { return answer_all(to); }, {},
                 [](client& asking, scripted_server& server) -> task<void> {
                   auto stream = co_await asking.open({method::get, server.url()});
                   EXPECT_EQ(co_await stream->read(), "ok");
                   for (int i = 0; i < 2; ++i)
                     EXPECT_EQ((co_await stream->read()).error(), errc::closed);
                 });
}

TEST_P(client_over_http2, refuses_what_is_too_large) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        unsigned stream = co_await to.next_request();
        co_await to.send(head_frame(stream, status_200));
        co_await to.send(data_frame(stream, std::string(1001, 'x')));
        stream = co_await to.next_request();
        std::string fields{status_200};
        for (int i = 0; i < 50; ++i) fields += literal_field("x-field", std::string(100, 'v'));
        co_await to.send(head_frame(stream, fields, true));
        co_await answer_all(to);
      },
      {.head_bytes = 4000, .body_bytes = 1000},
      [&](client& asking, scripted_server& server) -> task<void> {
        for (int i = 0; i < 2; ++i) {
          const auto answer = co_await asking.get(server.url());
          EXPECT_FALSE(answer.has_value());
          if (!answer) EXPECT_EQ(answer.error(), errc::limit_exceeded) << answer.error().message();
        }
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
      });
}

TEST_P(client_over_http2, closes_a_session_that_nobody_uses) {
  run_over_http2(
      [](unsigned, http2_peer& to) -> task<void> {
        co_await to.answer(co_await to.next_request(), "ok");
        const auto last = co_await to.next();
        EXPECT_TRUE(last && last->type == NGHTTP2_GOAWAY);
        EXPECT_FALSE((co_await to.next()).has_value());
      },
      {.idle_timeout = 50ms},
      [&](client& asking, scripted_server& server) -> task<void> {
        EXPECT_TRUE((co_await asking.get(server.url())).has_value());
        EXPECT_EQ(counted("http_client_connections"), 1);
        std::ignore = co_await sleep_for(loop(), 200ms);
        EXPECT_EQ(counted("http_client_connections"), 0);
      });
}

}  // namespace
}  // namespace weft::http

// Compressed responses: asked for, decoded, bounded.
#include <string>
#include <string_view>

#include <weft/base/format.hpp>
#include <weft/http/coded_test_texts_test.hpp>
#include <weft/http/compress.hpp>
#include <weft/http/request.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::client_fixture;
using testing::http_client;

std::string coded_response(std::string_view coding, std::string_view body) {
  return weft::format("HTTP/1.1 200 OK\r\nContent-Encoding: {}\r\nContent-Length: {}\r\n\r\n{}",
                      coding, body.size(), body);
}

class client_coding : public client_fixture {
 protected:
  /// The body that the client makes of this response, or its error.
  void expect_body(std::string response, std::string_view expected, client_options options = {}) {
    run_against(
        [response = std::move(response)](unsigned, http_client& peer) -> task<void> {
          std::ignore = co_await peer.receive();
          co_await peer.send(response);
        },
        std::move(options),
        [expected](client& asking, testing::scripted_server& server) -> task<void> {
          const auto answer = co_await asking.get(server.url());
          const std::string got = answer ? std::string{answer->body()} : answer.error().message();
          EXPECT_TRUE(answer ? got == expected : got.contains(expected)) << got.substr(0, 500);
        });
  }
};
INSTANTIATE_TEST_SUITE_P(in_memory, client_coding, ::testing::Values(backend_kind::simulated),
                         testing::backend_name);

TEST_P(client_coding, is_asked_for_and_taken_off) {
  const std::string text = prose(300'000);
  http().wrap_all(compress{});
  http().get("/text", [&] { return text; });
  http().get("/asked", [](const request& r) {
    return std::string{r.header("accept-encoding").value_or("nothing")};
  });
  run_with_client([&](client& asking) -> task<void> {
    EXPECT_EQ((co_await asking.get(url("/asked")))->body(), "gzip, br, zstd");
    for (int i = 0; i < 2; ++i) {
      const auto answer = co_await asking.get(url("/text"));
      EXPECT_TRUE(answer.has_value()) << answer.error().message();
      if (!answer) co_return;
      EXPECT_TRUE(answer->header("content-encoding").has_value());
      EXPECT_EQ(answer->body(), text);
    }
    EXPECT_EQ(http().connections(), 1U) << "which is kept";
  });
}

TEST_P(client_coding, is_left_to_who_names_codings) {
  http().wrap_all(compress{});
  http().get("/text", [] { return prose(30'000); });
  run_with_client([&](client& asking) -> task<void> {
    const auto raw = co_await asking.send(
        client_request{method::get, url("/text")}.header("Accept-Encoding", "gzip"));
    EXPECT_EQ(decoded(raw->body(), content_coding::gzip), prose(30'000));
  });
}

TEST_P(client_coding, need_not_be_asked_for) {
  http().wrap_all(compress{});
  http().get("/text", [] { return prose(30'000); });
  run_with_client({.decompress = false}, [&](client& asking) -> task<void> {
    const auto plain = co_await asking.get(url("/text"));
    EXPECT_EQ(plain->body(), prose(30'000));
    EXPECT_FALSE(plain->header("content-encoding").has_value());
  });
}

TEST_P(client_coding, may_be_any_that_is_known_and_two_of_them) {
  const std::string text = prose(50'000);
  const std::string zipped = encoded(text, content_coding::gzip);
  expect_body(coded_response("gzip", zipped), text);
  expect_body(coded_response("br", encoded(text, content_coding::br)), text);
  expect_body(coded_response("zstd", encoded(text, content_coding::zstd)), text);
  expect_body(coded_response("gzip, br", encoded(zipped, content_coding::br)), text);
  expect_body(coded_response("identity", text), text);
  expect_body(coded_response("gzip", ""), "");
}

/// Its field says what it is; and servers write a character set there.
TEST_P(client_coding, that_is_unknown_is_passed_on) {
  for (const std::string_view name : {"none", "utf-8", "compress", "gzip, aws-chunked"})
    expect_body(coded_response(name, "plain text"), "plain text");
  expect_body(coded_response("gzip, gzip, gzip", "x"), "x");
}

TEST_P(client_coding, is_bounded_once_it_is_decoded) {
  const std::string bomb = encoded(std::string(40'000'000, '0'), content_coding::br);
  expect_body(coded_response("br", bomb), "more than is taken, decoded");
  expect_body(coded_response("gzip", encoded(prose(30'000), content_coding::gzip)),
              "decoded (limit: 20000 bytes of body)", {.body_bytes = 20'000});
}

TEST_P(client_coding, that_is_wrong_or_cut_off_is_an_error) {
  const std::string zipped = encoded(prose(50'000), content_coding::gzip);
  expect_body(coded_response("gzip", "plain text"), "is not what its Content-Encoding says");
  expect_body(coded_response("gzip", zipped.substr(0, zipped.size() / 2)), "ends too soon");
  expect_body(coded_response("gzip", zipped + "more"), "is not what its Content-Encoding says");
}

}  // namespace
}  // namespace weft::http

#include "options.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "load_requests.hpp"

namespace {

using namespace std::chrono_literals;
using weft::bench::parse_duration;

std::string only_request(const weft::bench::load_options& options) {
  return weft::bench::make_requests(options)[0].bytes;
}

auto parse(std::vector<std::string_view> arguments) {
  return weft::bench::parse_load_options(arguments);
}

std::string error_of(std::vector<std::string_view> arguments) {
  const auto got = parse(std::move(arguments));
  return got ? "no error" : got.error();
}

TEST(options, a_url_is_enough) {
  const auto got = parse({"http://127.0.0.1:8080/"});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->connections, 50);
  EXPECT_EQ(got->duration, 10s);
  EXPECT_FALSE(got->echo);
  EXPECT_EQ(only_request(*got), "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
}

TEST(options, values_may_be_glued_or_apart) {
  const auto got = parse({"-c400", "-d", "500ms", "http://a:1/ping", "--data={\"sequence\": 2}",
                          "--warm-up=0", "--timeout", "1m", "--json", "-q"});
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->connections, 400);
  EXPECT_EQ(got->duration, 500ms);
  EXPECT_EQ(got->warm_up, 0s);
  EXPECT_EQ(got->timeout, 1min);
  EXPECT_TRUE(got->json);
  EXPECT_TRUE(got->quiet);
  EXPECT_EQ(only_request(*got),
            "POST /ping HTTP/1.1\r\nHost: a:1\r\nContent-Type: application/json\r\n"
            "Content-Length: 15\r\n\r\n{\"sequence\": 2}");
}

TEST(options, a_rate_has_a_unit_or_none) {
  const auto got = parse({"http://a:1/", "--rate", "2.5k"});
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->rate, 2500);
  EXPECT_EQ(parse({"http://a:1/", "-r1M"})->rate, 1e6);
  EXPECT_EQ(parse({"http://a:1/", "-r", "0.5"})->rate, 0.5);
  for (const char* wrong : {"0", "-5", "2.5 k", "k", "2g", "1e3", "1.2.3", ""})
    EXPECT_NE(error_of({"http://a:1/", "--rate", wrong}).find("is no rate"), std::string::npos)
        << wrong;
}

TEST(options, a_search_has_shorter_steps_and_no_rate) {
  const auto got = parse({"http://a:1/", "--find-max", "--p99=5ms"});
  ASSERT_TRUE(got) << got.error();
  EXPECT_TRUE(got->find_max);
  EXPECT_EQ(got->p99_most, 5ms);
  EXPECT_EQ(got->duration, 2s);
  EXPECT_EQ(parse({"http://a:1/", "--find-max", "-d", "1s"})->duration, 1s);
  EXPECT_NE(error_of({"http://a:1/", "--find-max", "--rate", "5"}).find("leave out --rate"),
            std::string::npos);
}

TEST(options, headers_replace_the_defaults) {
  const auto got = parse({"http://a:1/", "--data", "x", "-X", "PUT", "-H",
                          "content-type: text/plain", "--header=HOST: b", "-H", "X-Y:"});
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(only_request(*got),
            "PUT / HTTP/1.1\r\ncontent-type: text/plain\r\nHOST: b\r\nX-Y:\r\n"
            "Content-Length: 1\r\n\r\nx");
}

TEST(options, tcp_echoes_its_message) {
  const auto got = parse({"tcp://a:1"});
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->echo);
  EXPECT_FALSE(only_request(*got).empty());
  EXPECT_EQ(only_request(*parse({"tcp://a:1", "--data", "hey"})), "hey");
}

TEST(options, requests_come_from_a_file_and_alone) {
  const std::string path = ::testing::TempDir() + "weft_bench_requests.txt";
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fputs("GET /a\nPOST /b c\n", file);
  std::fclose(file);
  EXPECT_EQ(parse({"http://a:1/", "--requests", path})->requests.size(), 2U);
  EXPECT_NE(error_of({"http://a:1/", "--requests", path, "--data", "x"}).find("leave out --data"),
            std::string::npos);
  std::remove(path.c_str());
  EXPECT_NE(error_of({"http://a:1/", "--requests", path}).find("No such file"), std::string::npos);
}

TEST(options, connections_are_divided_among_at_most_as_many_threads) {
  EXPECT_EQ(parse({"http://a:1/", "-t8", "-c", "400"})->threads, 8);
  EXPECT_EQ(parse({"http://a:1/", "--threads", "8", "-c", "3"})->threads, 3);
  EXPECT_EQ(parse({"http://a:1/", "--pipeline", "16"})->pipelined, 16);
  EXPECT_NE(error_of({"http://a:1/", "--pipeline", "0"}).find("from 1 to 1000"), std::string::npos);
}

TEST(options, body_comes_from_a_file) {
  const std::string path = ::testing::TempDir() + "weft_bench_body.json";
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  std::fputs("{\"a\": 1}\n", file);
  std::fclose(file);
  const auto got = parse({"http://a:1/", "--body", path});
  std::remove(path.c_str());
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->body, "{\"a\": 1}\n");
  EXPECT_NE(error_of({"http://a:1/", "--body", path}).find("cannot read"), std::string::npos);
}

TEST(options, a_misspelt_option_names_the_nearest) {
  EXPECT_NE(error_of({"--conections", "4"}).find("'--connections'"), std::string::npos);
  EXPECT_NE(error_of({"--jsn"}).find("'--json'"), std::string::npos);
  EXPECT_NE(error_of({"--warmup=1"}).find("'--warm-up'"), std::string::npos);
}

TEST(options, wrong_use_is_refused_with_a_reason) {
  EXPECT_NE(error_of({}).find("no URL"), std::string::npos);
  EXPECT_NE(error_of({"http://a:1/", "http://b:1/"}).find("one URL"), std::string::npos);
  EXPECT_NE(error_of({"http://a:1/", "-c"}).find("needs a value"), std::string::npos);
  EXPECT_NE(error_of({"http://a:1/", "-c", "0"}).find("from 1 to"), std::string::npos);
  EXPECT_NE(error_of({"http://a:1/", "-c", "4x"}).find("from 1 to"), std::string::npos);
  EXPECT_NE(error_of({"http://a:1/", "--json=yes"}).find("takes no value"), std::string::npos);
  EXPECT_NE(error_of({"http://a:1/", "-d", "0"}).find("no time"), std::string::npos);
  EXPECT_NE(error_of({"http://a:1/", "-H", "no colon"}).find("Name: value"), std::string::npos);
  EXPECT_NE(error_of({"http://a:1/", "-H", "A: b\r\nC: d"}).find("Name: value"), std::string::npos);
  EXPECT_NE(error_of({"http://a:1/", "-X", "get it"}).find("no method"), std::string::npos);
}

TEST(options, a_websocket_sends_a_message) {
  const auto plain = parse({"ws://a:1/chat"});
  ASSERT_TRUE(plain) << plain.error();
  EXPECT_FALSE(plain->body.empty());
  EXPECT_FALSE(plain->echo);
  EXPECT_TRUE(parse({"wss://a/", "--binary", "--echo", "--data", "x"})->binary);
  EXPECT_NE(error_of({"http://a:1/", "--binary"}).find("for ws://"), std::string::npos);
  EXPECT_NE(error_of({"ws://a:1/", "-X", "PUT"}).find("leave out"), std::string::npos);
}

TEST(options, http2_is_spoken_by_http_urls) {
  EXPECT_TRUE(parse({"https://a/", "--http2"})->http2);
  EXPECT_NE(error_of({"ws://a/", "--http2"}).find("--http2 is for"), std::string::npos);
  EXPECT_NE(error_of({"http://a/", "--http2", "--echo"}).find("--http2 is for"), std::string::npos);
}

TEST(options, help_needs_nothing_else) {
  EXPECT_TRUE(parse({"--help"})->help);
  EXPECT_TRUE(parse({"-h"})->help);
}

TEST(options, durations) {
  EXPECT_EQ(parse_duration("2"), 2s);
  EXPECT_EQ(parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(parse_duration("2m"), 120s);
  for (const std::string_view text :
       {"", "s", "-1", "1h", "1.2.3", "nan", "0x10", "1e3", "90000"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

}  // namespace

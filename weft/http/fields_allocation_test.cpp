// The gate: what reads a request's fields allocates nothing, and what writes a reply's nothing once
// its text has grown.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <weft/http/access_line.hpp>
#include <weft/http/byte_ranges.hpp>
#include <weft/http/cookies.hpp>
#include <weft/http/cors.hpp>
#include <weft/http/file_path.hpp>
#include <weft/http/form.hpp>
#include <weft/http/forwarded.hpp>
#include <weft/http/multipart_parser.hpp>
#include <weft/http/negotiation.hpp>
#include <weft/http/preconditions.hpp>
#include <weft/http/proxy_header.hpp>
#include <weft/http/rate_limiter.hpp>
#include <weft/http/request_parser.hpp>
#include <weft/http/safe_file_name.hpp>
#include <weft/http/server_timing.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::http {
namespace {

// Twice: the first may make texts grow.
template <class Work>
std::uint64_t allocations_when_warm(Work work) {
  work();
  const testing::allocation_counter since;
  work();
  return since.allocations();
}

constexpr std::string_view request_with_all =
    "GET / HTTP/1.1\r\nHost: a\r\nOrigin: https://app.example\r\nCookie: a=b; c=d\r\n"
    "Accept: text/html, application/json;q=0.5\r\nAccept-Encoding: gzip, br\r\n"
    "If-None-Match: W/\"1\", \"2\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    "Range: bytes=0-99, 50-199, -10\r\nX-Forwarded-For: 1.2.3.4, 10.0.0.2\r\n\r\n";

TEST(fields_allocation, reading_a_request_takes_none) {
  const auto head = std::make_unique<parsed_head>();
  request_parser parser;
  ASSERT_EQ(parser.parse(request_with_all, *head, limits{}), parse_status::complete);
  const header_list& headers = head->headers();
  const auto rules = cors::make({.origins = {"https://app.example"}});
  const auto trusted = trusted_proxies::parse(std::vector<std::string>{"10.0.0.0/8"});
  const connection_peer peer{.address = *net::ip_address::parse("10.0.0.1")};
  rate_limiter limiter{{}, {1, 2}};
  constexpr std::array<std::string_view, 2> offers = {"application/json", "text/html"};
  const representation current{.tag = entity_tag{.opaque = "2"}, .modified = 784111777};
  EXPECT_EQ(allocations_when_warm([&] {
              EXPECT_EQ(find_cookie(headers, "c"), "d");
              EXPECT_EQ(choose_media_type(headers.find("accept"), offers), 1u);
              EXPECT_EQ(choose_coding(headers.find("accept-encoding"), {content_coding::gzip}),
                        content_coding::gzip);
              EXPECT_EQ(check_preconditions(method::get, headers, current, 1'800'000'000),
                        precondition::not_modified);
              EXPECT_EQ(parse_ranges(*headers.find("range"), 1000).count, 2u);
              EXPECT_EQ(rules->decide(method::get, headers).kind(), cors_kind::actual);
              const auto client = find_client(peer, headers, forwarding::x_forwarded_for, *trusted);
              EXPECT_TRUE(limiter.admit(rate_key(*client->address), time_point{}).admitted);
              EXPECT_EQ(parse_proxy_header("PROXY TCP4 1.2.3.4 10.0.0.1 1 2\r\n", {}).status,
                        proxy_status::complete);
            }),
            0u);
}

TEST(fields_allocation, reading_forms_takes_none) {
  constexpr std::string_view encoded = "name=Ada+Lovelace&city=London";
  constexpr std::string_view body =
      "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"x.txt\"\r\n\r\none\r\n--B\r\n"
      "Content-Disposition: form-data; name=\"b\"\r\n\r\ntwo\r\n--B--\r\n";
  std::array<char, 64> room;
  std::array<char, file_name_bytes_max> name;
  EXPECT_EQ(allocations_when_warm([&] {
              form_reader form{encoded, room};
              while (*form.next()) continue;
            }),
            0u);
  // Two texts for the heads of its parts, made with the first and used for all.
  std::size_t parts = 0;
  EXPECT_LE(allocations_when_warm([&] {
              multipart_parser form{"B", {}};
              for (std::string_view input = body; !input.empty();)
                if (form.next(input) == multipart_event::part) {
                  ++parts;
                  (void)safe_file_name(form.part().filename.value_or(""), name);
                }
            }),
            8u);
  EXPECT_EQ(parts, 4u);
}

TEST(fields_allocation, writing_takes_none_once_the_text_has_grown) {
  std::string text;
  EXPECT_EQ(allocations_when_warm([&text] {
              EXPECT_TRUE(write_set_cookie({.name = "a", .value = "b", .path = "/"}, text));
              text.clear();
              EXPECT_TRUE(append_server_timing(text, "db", std::chrono::milliseconds{1}));
              text.clear();
              append_access_line(text, {.client = "10.0.0.1", .method = "GET", .target = "/"},
                                 access_format::combined);
              EXPECT_TRUE(relative_file_path("/css/site.css", {}, text));
            }),
            0u);
}

}  // namespace
}  // namespace weft::http

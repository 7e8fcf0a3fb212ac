// Clients that send a part and then nothing: what they are waited for with.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

class slow_client_test : public testing::in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    const auto show = [](const request& asked, std::string_view body) {
      return std::string{asked.path()} + " " + std::string{*asked.parameter("name")} + " " +
             std::string{asked.header("x-mark").value_or("-")} + " " + std::string{body};
    };
    http().post("/whole/{name}",
                [show](const request& asked) { return show(asked, asked.body()); });
    http().put("/streamed/{name}",
               [show](const request& asked, body_reader& body) -> task<result<std::string>> {
                 std::string all;
                 while (auto piece = co_await body.read()) all += *piece;
                 if (auto whole = body.outcome(); !whole) co_return fail(whole.error());
                 co_return show(asked, all);
               });
  }
};

struct two_parts {
  std::string_view sent;
  std::string_view later;
  std::string_view answer;
};

constexpr std::array cut_requests{
    two_parts{"\r\n", "POST /whole/a HTTP/1.1\r\nHost: a\r\n\r\n", "/whole/a a - "},
    two_parts{"P", "OST /whole/a HTTP/1.1\r\nHost: a\r\n\r\n", "/whole/a a - "},
    two_parts{"POST /whole/%61b HTTP/1.1\r\nX-Mar",
              "k: 7\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", "/whole/ab ab 7 hi"},
    two_parts{"POST /whole/a%62 HTTP/1.1\r\nHost: a\r\nX-Mark: 8\r\nContent-Length: 6\r\n\r\nhel",
              "lo!", "/whole/ab ab 8 hello!"},
    two_parts{"POST /whole/a HTTP/1.1\r\nHost: a\r\nX-Mark: 9\r\nTransfer-Encoding: "
              "chunked\r\n\r\n3\r\nhe",
              "l\r\n2\r\nlo\r\n0\r\n\r\n", "/whole/a a 9 hello"},
    two_parts{
        "PUT /streamed/a%62 HTTP/1.1\r\nHost: a\r\nX-Mark: 10\r\nContent-Length: 6\r\n\r\nhel",
        "lo!", "/streamed/ab ab 10 hello!"},
    two_parts{"PUT /streamed/ab HTTP/1.1\r\nHost: a\r\nX-Mark: 11\r\nContent-Length: 6\r\n\r\n",
              "hello!", "/streamed/ab ab 11 hello!"},
};

TEST_F(slow_client_test, holds_no_buffer_while_it_is_waited_for) {
  run([&]() -> task<void> {
    const std::size_t before = loop().buffers().in_use();
    std::vector<testing::http_client> clients;
    for (const two_parts& each : cut_requests) {
      clients.push_back(co_await world().connect());
      co_await clients.back().send(each.sent);
    }
    co_await world().sleep(std::chrono::milliseconds{100});
    EXPECT_EQ(loop().buffers().in_use(), before);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      co_await clients[i].send(cut_requests[i].later);
      const auto reply = co_await clients[i].reply();
      EXPECT_EQ(reply.status, 200) << cut_requests[i].sent;
      EXPECT_EQ(reply.body, cut_requests[i].answer);
    }
  });
}

}  // namespace
}  // namespace weft::http

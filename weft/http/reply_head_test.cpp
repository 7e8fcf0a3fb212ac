#include <weft/http/reply_head.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft::http {
namespace {

/// What is written, checked to be as long as was said.
std::string written(const reply_head& head) {
  std::string text(head.size_bytes() + 1, '\x7f');
  const char* end = head.write(text.data());
  EXPECT_EQ(static_cast<std::size_t>(end - text.data()), head.size_bytes());
  EXPECT_EQ(text.back(), '\x7f') << "a byte too many";
  text.pop_back();
  return text;
}

TEST(reply_head, has_all_that_is_known) {
  EXPECT_EQ(written({.code = status::ok,
                     .date = "Sun, 06 Nov 1994 08:49:37 GMT",
                     .content_type = "text/plain",
                     .content_length = 6,
                     .fields = "ETag: \"a\"\r\n",
                     .connection = connection_field::close}),
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain\r\n"
            "Content-Length: 6\r\nETag: \"a\"\r\nConnection: close\r\n\r\n");
}

TEST(reply_head, leaves_out_what_is_not) {
  EXPECT_EQ(written({.code = status::not_found}),
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}

TEST(reply_head, gives_no_length_where_there_can_be_no_content) {
  EXPECT_EQ(written({.code = status::no_content, .content_length = 3}),
            "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(reply_head, tells_an_old_client_that_the_connection_is_kept) {
  EXPECT_EQ(written({.code = status::no_content, .connection = connection_field::keep_alive}),
            "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n");
}

TEST(reply_head, counts_the_digits_of_every_length) {
  for (const std::uint64_t length : {std::uint64_t{9}, std::uint64_t{10}, std::uint64_t{99},
                                     std::uint64_t{100}, ~std::uint64_t{0}}) {
    const std::string text = written({.content_length = length});
    EXPECT_NE(text.find("Content-Length: " + std::to_string(length) + "\r\n"), std::string::npos);
  }
}

}  // namespace
}  // namespace weft::http

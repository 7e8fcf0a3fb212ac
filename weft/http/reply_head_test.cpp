#include <weft/http/reply_head.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft::http {
namespace {

const reply_start first_part{format_date(784111777)};
const std::string date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";

/// What is written, checked to touch nothing behind what was said.
std::string written(const reply_head& head) {
  std::string text(head.most_bytes() + 64, '\x7f');
  const char* end = head.write(text.data());
  EXPECT_EQ(text.find_first_not_of('\x7f', head.most_bytes()), text.npos) << "bytes too many";
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

TEST(reply_head, has_all_that_is_known) {
  EXPECT_EQ(written({.code = status::ok,
                     .start = first_part,
                     .content_type = "text/plain",
                     .content_length = 6,
                     .fields = "ETag: \"a\"\r\n",
                     .connection = connection_field::close}),
            "HTTP/1.1 200 OK\r\n" + date +
                "Content-Type: text/plain\r\n"
                "Content-Length: 6\r\nETag: \"a\"\r\nConnection: close\r\n\r\n");
}

TEST(reply_head, leaves_out_what_is_not) {
  EXPECT_EQ(written({.code = status::not_found, .start = first_part}),
            "HTTP/1.1 404 Not Found\r\n" + date + "Content-Length: 0\r\n\r\n");
}

TEST(reply_head, gives_no_length_where_there_can_be_no_content) {
  EXPECT_EQ(written({.code = status::no_content, .start = first_part, .content_length = 3}),
            "HTTP/1.1 204 No Content\r\n" + date + "\r\n");
}

TEST(reply_head, tells_an_old_client_that_the_connection_is_kept) {
  EXPECT_EQ(written({.code = status::no_content,
                     .start = first_part,
                     .connection = connection_field::keep_alive}),
            "HTTP/1.1 204 No Content\r\n" + date + "Connection: keep-alive\r\n\r\n");
}

TEST(reply_head, has_room_for_the_longest_of_everything) {
  const std::string text = written({.code = status::request_header_fields_too_large,
                                    .start = first_part,
                                    .content_type = "a/b",
                                    .content_length = ~std::uint64_t{0},
                                    .connection = connection_field::keep_alive});
  EXPECT_TRUE(text.ends_with("\r\nConnection: keep-alive\r\n\r\n")) << text;
}

TEST(reply_head, copies_texts_of_every_size) {
  for (std::size_t size = 1; size <= 100; ++size) {
    std::string type;
    for (std::size_t i = 0; i < size; ++i) type += static_cast<char>('a' + i % 26);
    EXPECT_NE(
        written({.start = first_part, .content_type = type}).find("Content-Type: " + type + "\r\n"),
        std::string::npos)
        << size;
  }
}

TEST(reply_head, writes_every_number_of_digits) {
  for (const std::uint64_t length : {std::uint64_t{9}, std::uint64_t{10}, std::uint64_t{99},
                                     std::uint64_t{100}, ~std::uint64_t{0}}) {
    const std::string text = written({.start = first_part, .content_length = length});
    EXPECT_NE(text.find("Content-Length: " + std::to_string(length) + "\r\n"), std::string::npos);
  }
}

}  // namespace
}  // namespace weft::http

// Bodies that come from a file, and that go into one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/units.hpp>
#include <weft/http/chunked_decoder.hpp>
#include <weft/loop/file.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::each_backend;
using testing::http_client;

/// `size` bytes that are not the same at any two places near each other.
std::string letters(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
  return text;
}

std::string unchunked(std::string_view body) {
  std::string content;
  chunked_decoder decoder;
  EXPECT_EQ(decoder.decode(body, content, {.body_bytes = 1_GiB}).status, chunked_status::complete);
  return content;
}

class body_file_test : public each_backend {
 protected:
  void SetUp() override {
    each_backend::SetUp();
    ASSERT_GE(fd_ = ::mkstemp(path_.data()), 0);
  }
  void TearDown() override {
    each_backend::TearDown();
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  void put(std::string_view text) {
    ASSERT_EQ(::pwrite(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string content() const {
    std::string all(10'000'000, '\0');
    all.resize(static_cast<std::size_t>(::pread(fd_, all.data(), all.size(), 0)));
    return all;
  }
  task<file> opened(file_access access = file_access::read_write) {
    auto opening = co_await file::open(loop(), path_, access);
    co_return std::move(opening).value();
  }

  int fd_ = -1;
  std::string path_ = ::testing::TempDir() + "weft-body-XXXXXX";
};

INSTANTIATE_TEST_SUITE_P(on, body_file_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(body_file_test, sends_any_part_between_what_is_written) {
  const std::string all = letters(3'000'000);
  put(all);
  for (const std::size_t size : {0U, 1U, 65'536U, 65'537U, 262'145U, 2'900'000U}) {
    for (const bool is_announced : {true, false}) {
      serve(GetParam());
      http().get("/part", [&](body_writer& out) -> task<result<void>> {
        file from = co_await opened();
        std::optional<std::uint64_t> length;
        if (is_announced) length = size + 12;
        out.start({status::ok, "text/plain", {}}, length);
        if (auto sent = co_await out.write("before"); !sent) co_return sent;
        if (auto sent = co_await out.write_from(from, 99'999, size); !sent) co_return sent;
        EXPECT_EQ(out.written_bytes(), size + 6);
        co_return co_await out.write("behind");
      });
      run([&]() -> task<void> {
        auto client = co_await world().connect();
        const std::string wanted = "before" + all.substr(99'999, size) + "behind";
        if (is_announced) {
          for (int i = 0; i < 2; ++i)
            EXPECT_TRUE((co_await client.ask("GET", "/part")).body == wanted) << size;
          co_return;
        }
        co_await client.send("GET /part HTTP/1.0\r\nHost: a\r\n\r\n");
        (void)co_await client.reply();
        EXPECT_TRUE(co_await client.rest() == wanted) << size << ", until the connection ends";
        auto other = co_await world().connect();
        co_await other.send("GET /part HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        (void)co_await other.reply();
        EXPECT_TRUE(unchunked(co_await other.rest()) == wanted) << size << ", in chunks";
      });
    }
  }
}

TEST_P(body_file_test, gives_head_no_file) {
  put(letters(1'000'000));
  http().get("/file", [&](body_writer& out) -> task<result<void>> {
    file from = co_await opened();
    out.start({status::ok, "text/plain", {}}, 1'000'000);
    co_return co_await out.write_from(from, 0, 1'000'000);
  });
  http().get("/hello", [] { return "hello"; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("HEAD /file HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ((co_await client.reply(true)).field("content-length"), "1000000");
    EXPECT_EQ((co_await client.ask("GET", "/hello")).body, "hello");
  });
}

TEST_P(body_file_test, fails_where_the_file_ends_and_sends_no_more_than_was_announced) {
  put(letters(300'000));
  std::optional<error> seen;
  std::uint64_t wished = 0;
  http().get("/file", [&](body_writer& out) -> task<result<void>> {
    file from = co_await opened();
    out.start({status::ok, "text/plain", {}}, 400'000);
    const auto sent = co_await out.write_from(from, 0, wished);
    seen = sent ? error{errc::system} : sent.error();
    co_return sent;
  });
  run([&]() -> task<void> {
    for (const auto& [size, why] :
         {std::pair{400'000U, errc::unavailable}, {500'000U, errc::invalid_argument}}) {
      wished = size;
      auto client = co_await world().connect();
      co_await client.send("GET /file HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT_LT((co_await client.rest()).size(), 400'000U) << "closed within the body";
      EXPECT_EQ(seen, why);
    }
  });
}

TEST_P(body_file_test, keeps_little_for_a_client_that_waits) {
  const std::string all = letters(30'000'000);
  put(all);
  std::optional<result<void>> sent;
  http().get("/file", [&](body_writer& out) -> task<result<void>> {
    file from = co_await opened();
    out.start({status::ok, "text/plain", {}}, all.size());
    sent = co_await out.write_from(from, 0, all.size());
    co_return *sent;
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::size_t slots = loop().buffers().in_use();
    co_await client.send("GET /file HTTP/1.1\r\nHost: a\r\n\r\n");
    for (int i = 0; i < 2'000; ++i) co_await yield{loop()};
    EXPECT_FALSE(sent.has_value()) << "the client has not taken it";
    EXPECT_LE(loop().buffers().in_use(), slots + 10);
    EXPECT_TRUE((co_await client.reply()).body == all);
    EXPECT_TRUE(sent.has_value() && sent->has_value());
  });
}

TEST_P(body_file_test, stores_bodies_of_any_size) {
  http().put("/file", [&](body_reader& body) -> task<result<std::string>> {
    file into = co_await opened(file_access::replace);
    if (auto stored = co_await body.read_into(into, 3); !stored) co_return fail(stored.error());
    co_return std::to_string(body.given_bytes());
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const std::size_t size : {0U, 1U, 65'536U, 65'537U, 1'000'000U}) {
      const std::string sent = letters(size);
      co_await client.send(
          weft::format("PUT /file HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", size) + sent);
      EXPECT_EQ((co_await client.reply()).body, std::to_string(size));
      const std::string wanted = size == 0 ? "" : std::string(3, '\0') + sent;
      EXPECT_TRUE(content() == wanted) << size;
    }
  });
}

TEST_P(body_file_test, says_why_a_body_was_not_stored) {
  std::optional<error> seen;
  file_access access = file_access::read_write;
  bool is_open = false;
  http().put("/file", [&](body_reader& body) -> task<result<void>> {
    file into = co_await opened(access);
    is_open = true;
    const auto stored = co_await body.read_into(into);
    seen = stored ? error{errc::system} : stored.error();
    co_return stored;
  });
  run([&]() -> task<void> {
    {
      auto client = co_await world().connect();
      co_await client.send("PUT /file HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nhalf");
      while (!is_open) co_await yield{loop()};
    }
    while (!seen) co_await yield{loop()};
    EXPECT_EQ(seen, errc::reset);
    access = file_access::read;
    auto client = co_await world().connect();
    co_await client.send("PUT /file HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nwhole");
    EXPECT_EQ((co_await client.reply()).status, 500);
    EXPECT_EQ(seen->os_errno(), EBADF) << "a file that was opened to be read";
  });
}

}  // namespace
}  // namespace weft::http

#include <weft/http/static_files.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

namespace fs = std::filesystem;
using testing::backend_name;
using testing::each_backend;
using testing::http_client;
using testing::http_reply;

/// `size` bytes that are not the same at any two places near each other.
std::string content(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
  return text;
}

class static_files_test : public each_backend {
 protected:
  void SetUp() override {
    each_backend::SetUp();
    std::string made = "/tmp/weft_static_files_XXXXXX";
    ASSERT_NE(::mkdtemp(made.data()), nullptr);
    folder_ = made;
    fs::create_directory(folder_ / "site");
    put("outside.txt", "outside");
    put("site/index.html", "<p>home</p>");
    put("site/a.txt", "0123456789");
  }
  void TearDown() override {
    each_backend::TearDown();
    fs::remove_all(folder_);
  }

  void put(const std::string& name, std::string_view text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream{folder_ / name, std::ios::binary} << text;
  }
  void serve_files(static_files_options options = {}) {
    options_ = std::move(options);
    options_.folder = (folder_ / "site").string();
  }
  /// A world with the files, for one run().
  void begin() {
    serve(GetParam());
    files_.emplace(options_, http(), loop());
  }
  /// What one client gets for one GET.
  http_reply get(std::string_view target, std::string_view fields = {}) {
    return ask("GET", target, fields);
  }
  http_reply ask(std::string_view method, std::string_view target, std::string_view fields = {}) {
    http_reply answer;
    begin();
    run([&]() -> task<void> {
      auto client = co_await world().connect();
      std::string text{method};
      text.append(" ").append(target).append(" HTTP/1.1\r\nHost: a\r\n").append(fields);
      co_await client.send(text + "\r\n");
      answer = co_await client.reply(method == "HEAD");
    });
    return answer;
  }

  fs::path folder_;
  static_files_options options_;
  std::optional<static_files> files_;
};

INSTANTIATE_TEST_SUITE_P(on, static_files_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(static_files_test, gives_a_file_with_what_is_known_of_it) {
  serve_files({.cache_control = "max-age=60"});
  const http_reply got = get("/a.txt");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "0123456789");
  EXPECT_EQ(got.field("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(got.field("content-length"), "10");
  EXPECT_EQ(got.field("accept-ranges"), "bytes");
  EXPECT_EQ(got.field("cache-control"), "max-age=60");
  EXPECT_EQ(got.field("vary"), "Accept-Encoding");
  EXPECT_EQ(got.field("x-content-type-options"), "nosniff");
  EXPECT_TRUE(got.field("etag").has_value());
  EXPECT_TRUE(got.field("last-modified").has_value());
  EXPECT_FALSE(got.field("content-encoding").has_value());
}

TEST_P(static_files_test, answers_head_without_the_file) {
  serve_files();
  const http_reply got = ask("HEAD", "/a.txt");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.field("content-length"), "10");
}

TEST_P(static_files_test, gives_large_and_empty_files_whole) {
  const std::string large = content(1'000'003);
  put("site/large.bin", large);
  put("site/empty", "");
  serve_files();
  EXPECT_TRUE(get("/large.bin").body == large);
  const http_reply empty = get("/empty");
  EXPECT_EQ(empty.status, 200);
  EXPECT_EQ(empty.field("content-length"), "0");
}

TEST_P(static_files_test, gives_what_stands_for_a_folder) {
  put("site/docs/index.html", "<p>docs</p>");
  put("site/bare/file", "");
  serve_files();
  EXPECT_EQ(get("/").body, "<p>home</p>");
  EXPECT_EQ(get("/docs/").body, "<p>docs</p>");
  const http_reply moved = get("/docs?page=2");
  EXPECT_EQ(moved.status, 308);
  EXPECT_EQ(moved.field("location"), "/docs/?page=2");
  EXPECT_EQ(get("/bare/").status, 404) << "folders are not listed";
  EXPECT_EQ(get("/a.txt/").status, 404);
}

TEST_P(static_files_test, serves_below_its_prefix_alone) {
  serve_files({.prefix = "/static/", .index = ""});
  EXPECT_EQ(get("/static/a.txt").body, "0123456789");
  EXPECT_EQ(get("/a.txt").status, 404);
  EXPECT_EQ(get("/static/").status, 404) << "nothing stands for a folder";
  EXPECT_EQ(get("/static").field("location"), "/static/");
}

TEST_P(static_files_test, may_have_parameters_in_its_prefix) {
  serve_files({.prefix = "/{tenant}/files"});
  EXPECT_EQ(get("/a/files/a.txt").body, "0123456789");
  EXPECT_EQ(get("/a/files/").body, "<p>home</p>");
  EXPECT_EQ(get("/a/files?page=2").field("location"), "/a/files/?page=2");
}

TEST_P(static_files_test, stays_in_its_folder) {
  fs::create_symlink("../outside.txt", folder_ / "site/out");
  fs::create_symlink("a.txt", folder_ / "site/in");
  put("site/.secret", "secret");
  put("site/docs/index.html", "");
  serve_files();
  for (const char* path : {"/../outside.txt", "/%2e%2e/outside.txt", "/..%2foutside.txt", "/out",
                           "/in", "/.secret", "//etc/passwd", "//docs", "/a.txt%00"})
    EXPECT_GE(get(path).status, 400) << path;
}

TEST_P(static_files_test, follows_links_within_and_shows_hidden_files_if_told) {
  fs::create_symlink("../outside.txt", folder_ / "site/out");
  fs::create_symlink("a.txt", folder_ / "site/in");
  put("site/.secret", "secret");
  serve_files({.follow_links = true, .hidden_files = true});
  EXPECT_EQ(get("/in").body, "0123456789");
  EXPECT_EQ(get("/.secret").body, "secret");
  EXPECT_EQ(get("/out").status, 404);
}

TEST_P(static_files_test, sends_what_was_compressed_ahead) {
  put("site/a.txt.br", "brotli");
  put("site/a.txt.gz", "gzip");
  serve_files();
  const http_reply coded = get("/a.txt", "Accept-Encoding: gzip, br\r\n");
  EXPECT_EQ(coded.body, "brotli");
  EXPECT_EQ(coded.field("content-encoding"), "br");
  EXPECT_EQ(coded.field("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(get("/a.txt", "Accept-Encoding: gzip\r\n").body, "gzip");
  const http_reply plain = get("/a.txt");
  EXPECT_EQ(plain.body, "0123456789");
  EXPECT_NE(plain.field("etag"), coded.field("etag"));
}

TEST_P(static_files_test, sends_nothing_that_the_client_has) {
  serve_files();
  const http_reply first = get("/a.txt");
  const std::string tag{*first.field("etag")};
  const http_reply again = get("/a.txt", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.field("etag"), tag);
  EXPECT_EQ(again.body, "");
  const std::string date{*first.field("last-modified")};
  EXPECT_EQ(get("/a.txt", "If-Modified-Since: " + date + "\r\n").status, 304);
  EXPECT_EQ(get("/a.txt", "If-Match: \"other\"\r\n").status, 412);
  put("site/a.txt", "changed");
  EXPECT_EQ(get("/a.txt", "If-None-Match: " + tag + "\r\n").body, "changed");
}

TEST_P(static_files_test, never_says_that_a_file_is_of_the_future) {
  fs::last_write_time(folder_ / "site/a.txt",
                      fs::file_time_type::clock::now() + std::chrono::hours{24 * 365});
  serve_files();
  const http_reply got = get("/a.txt");
  EXPECT_EQ(got.field("last-modified"), got.field("date"));
}

TEST_P(static_files_test, gives_parts) {
  serve_files();
  const http_reply middle = get("/a.txt", "Range: bytes=2-4\r\n");
  EXPECT_EQ(middle.status, 206);
  EXPECT_EQ(middle.body, "234");
  EXPECT_EQ(middle.field("content-range"), "bytes 2-4/10");
  EXPECT_EQ(get("/a.txt", "Range: bytes=-3\r\n").body, "789");
  const http_reply beyond = get("/a.txt", "Range: bytes=10-\r\n");
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.field("content-range"), "bytes */10");
  EXPECT_EQ(beyond.body, R"({"title":"Range Not Satisfiable","status":416,)"
                         R"("detail":"the file has 10 bytes, and none of those asked for"})");
  EXPECT_EQ(get("/a.txt", "Range: bytes=2-4\r\nIf-Range: \"other\"\r\n").body, "0123456789");
  EXPECT_EQ(ask("HEAD", "/a.txt", "Range: bytes=2-4\r\n").status, 200) << "ranges are GET's";
}

TEST_P(static_files_test, lets_nobody_keep_what_answers_a_condition) {
  serve_files({.cache_control = "public, max-age=3600"});
  const http_reply part = get("/a.txt", "Range: bytes=2-4\r\n");
  EXPECT_EQ(part.field("cache-control"), "public, max-age=3600");
  const http_reply failed = get("/a.txt", "If-Match: \"other\"\r\n");
  EXPECT_EQ(failed.status, 412);
  EXPECT_EQ(failed.field("content-type"), "application/problem+json");
  EXPECT_FALSE(failed.field("cache-control").has_value());
  const http_reply beyond = get("/a.txt", "Range: bytes=10-\r\n");
  EXPECT_EQ(beyond.status, 416);
  EXPECT_FALSE(beyond.field("cache-control").has_value());
}

TEST_P(static_files_test, has_files_of_any_time) {
  serve_files();
  for (const std::int64_t seconds : {std::int64_t{1} << 36, -(std::int64_t{1} << 30)}) {
    const timespec times[2] = {{.tv_sec = seconds, .tv_nsec = 0},
                               {.tv_sec = seconds, .tv_nsec = 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "site/a.txt").c_str(), times, 0), 0);
    EXPECT_EQ(get("/a.txt").body, "0123456789");
  }
}

TEST_P(static_files_test, gives_several_parts) {
  const std::string large = content(300'000);
  put("site/large.bin", large);
  serve_files();
  const http_reply got = get("/large.bin", "Range: bytes=10-19, 100000-199999\r\n");
  EXPECT_EQ(got.status, 206);
  const std::string type{*got.field("content-type")};
  const std::string boundary = type.substr(type.find('=') + 1);
  EXPECT_TRUE(type.starts_with("multipart/byteranges; boundary=")) << type;
  const std::string between = "\r\n--" + boundary + "\r\nContent-Type: application/octet-stream";
  EXPECT_TRUE(got.body == between + "\r\nContent-Range: bytes 10-19/300000\r\n\r\n" +
                              large.substr(10, 10) + between +
                              "\r\nContent-Range: bytes 100000-199999/300000\r\n\r\n" +
                              large.substr(100'000, 100'000) + "\r\n--" + boundary + "--\r\n");
}

TEST_P(static_files_test, ends_within_the_body_of_a_file_that_gets_shorter) {
  put("site/large.bin", content(20'000'000));
  serve_files();
  begin();
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_FALSE((co_await client.receive()).empty());
    fs::resize_file(folder_ / "site/large.bin", 1'000);
    EXPECT_LT((co_await client.rest()).size(), 20'000'000U);
  });
}

TEST_P(static_files_test, says_which_folder_is_not_there) {
  try {
    const static_files none{{.folder = "/nowhere/at/all"}, http(), loop()};
    FAIL() << "it began";
  } catch (const std::system_error& why) {
    EXPECT_EQ(std::string{why.what()}, "folder \"/nowhere/at/all\": No such file or directory");
  }
}

TEST_P(static_files_test, says_what_no_field_can_hold) {
  try {
    const static_files none{{.cache_control = "public\r\nX: y"}, http(), loop()};
    FAIL() << "it began";
  } catch (const std::invalid_argument& why) {
    EXPECT_EQ(std::string{why.what()},
              "cache_control \"public\r\nX: y\" is not what a header field can hold");
  }
}

}  // namespace
}  // namespace weft::http

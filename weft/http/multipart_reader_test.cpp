#include <weft/http/multipart_reader.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/coro/with_deadline.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using namespace std::chrono_literals;
using testing::backend_name;
using testing::backends;

constexpr std::string_view form_type = "Content-Type: multipart/form-data; boundary=b\r\n";

std::string form_part_text(std::string_view disposition, std::string_view content) {
  return "--b\r\nContent-Disposition: form-data; " + std::string{disposition} + "\r\n\r\n" +
         std::string{content} + "\r\n";
}

std::string long_content(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
  return text;
}

class multipart_reader_test : public testing::each_backend {
 protected:
  void serve_form(const form_limits& bounds = {}) {
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
    http().post("/", [bounds](const request& r, body_reader& b) -> task<result<std::string>> {
      std::string told;
      multipart_reader form{r, b, bounds};
      while (auto part = co_await form.next()) {
        told += std::string{part->name} + "|" + std::string{part->file_name.value_or("-")} + "|" +
                std::string{part->content_type} + "|";
        if (part->name == "passed over") continue;
        while (auto piece = co_await part->read()) told += *piece;
        told += "\n";
      }
      if (auto whole = form.outcome(); !whole) co_return fail(whole.error());
      co_return told;
    });
  }
  task<testing::http_reply> send(std::string body, std::string_view type = form_type) {
    auto client = co_await world().connect();
    co_return co_await client.ask("POST", "/", body, type);
  }
};
INSTANTIATE_TEST_SUITE_P(on, multipart_reader_test, backends, backend_name);

TEST_P(multipart_reader_test, gives_part_by_part) {
  serve_form();
  const std::string file = long_content(100'000);
  run([&]() -> task<void> {
    const auto reply = co_await send(
        form_part_text("name=\"a\"", "one") + form_part_text("name=\"passed over\"", file) +
        form_part_text("name=f; filename=\"../../etc/passwd\"\r\nContent-Type: image/x", file) +
        form_part_text("name=\"empty\"", "") + "--b--\r\nan epilogue");
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(reply.body == "a|-|text/plain|one\npassed over|-|text/plain|f|passwd|image/x|" +
                                  file + "\nempty|-|text/plain|\n");
    EXPECT_EQ((co_await send("--b--\r\n")).body, "") << "a form without parts";
  });
}

TEST_P(multipart_reader_test, takes_a_file_input_without_a_file_for_no_file) {
  serve_form();
  run([&]() -> task<void> {
    const auto reply = co_await send(
        form_part_text("name=\"f\"; filename=\"\"\r\nContent-Type: application/octet-stream", "") +
        form_part_text("name=g; filename=\"a\"; filename*=utf-8''caf%C3%A9", "1") + "--b--\r\n");
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(reply.body, "f|-|application/octet-stream|\ng|caf\xc3\xa9|text/plain|1\n");
  });
}

TEST_P(multipart_reader_test, tells_what_is_wrong) {
  serve_form();
  run([&]() -> task<void> {
    EXPECT_EQ((co_await send("a=b", "Content-Type: text/plain\r\n")).status, 415);
    EXPECT_EQ((co_await send("a=b", "")).status, 415);
    EXPECT_EQ((co_await send("a=b", "Content-Type: multipart/form-data\r\n")).status, 400);
    const std::string part = form_part_text("name=a", "one");
    for (const std::string& wrong :
         {std::string{}, std::string{"no boundary"}, part, part + "--b", part + "--bX\r\n--b--",
          std::string{"--b\r\nContent-Disposition: attachment\r\n\r\n\r\n--b--"}}) {
      const auto reply = co_await send(wrong);
      EXPECT_EQ(reply.status, 400) << wrong << reply.body;
      EXPECT_EQ(reply.field("Content-Type"), "application/problem+json");
    }
  });
}

TEST_P(multipart_reader_test, keeps_to_its_limits) {
  serve_form({.head = {.parts = 2, .header_bytes = 200}, .part_bytes = 1000});
  run([&]() -> task<void> {
    const std::string most = form_part_text("name=a", std::string(1000, 'x'));
    EXPECT_EQ((co_await send(most + most + "--b--")).status, 200);
    EXPECT_EQ((co_await send(most + most + most + "--b--")).status, 413) << "three parts";
    EXPECT_EQ((co_await send(form_part_text("name=a", std::string(1001, 'x')) + "--b--")).status,
              413);
    EXPECT_EQ(
        (co_await send(form_part_text("name=\"passed over\"", std::string(1001, 'x')) + "--b--"))
            .status,
        413);
    EXPECT_EQ((co_await send(form_part_text("name=" + std::string(300, 'n'), "") + "--b--")).status,
              431);
  });
}

TEST_P(multipart_reader_test, reads_fields_within_their_limit) {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  http().post("/", [](const request& r, body_reader& b) -> task<result<std::string>> {
    multipart_reader form{r, b};
    auto part = co_await form.next();
    if (!part) co_return fail(part.error());
    auto first = co_await part->text(10);
    if (!first) co_return fail(first.error());
    EXPECT_EQ((co_await part->text()).value(), "") << "it has ended";
    auto second = co_await form.next();
    EXPECT_EQ((co_await part->read()).error(), errc::closed) << "a part of before";
    EXPECT_EQ((co_await second->text()).value(), "two");
    EXPECT_EQ((co_await form.next()).error(), errc::closed);
    EXPECT_EQ((co_await form.next()).error(), errc::closed);
    co_return *first;
  });
  run([&]() -> task<void> {
    const std::string second = form_part_text("name=b", "two") + "--b--";
    EXPECT_EQ((co_await send(form_part_text("name=a", "0123456789") + second)).body, "0123456789");
    EXPECT_EQ((co_await send(form_part_text("name=a", "0123456789a") + second)).status, 413);
  });
}

TEST_P(multipart_reader_test, goes_on_where_a_wait_was_cut_short) {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  http().post("/", [](const request& r, body_reader& b) -> task<result<std::string>> {
    multipart_reader form{r, b};
    std::string told;
    unsigned cut_short = 0;
    for (;;) {
      auto part = co_await with_timeout(1ms, form.next());
      if (!part && part.error() == errc::timed_out) ++cut_short;
      if (!part && part.error() == errc::closed) break;
      while (part) {
        const auto piece = co_await with_timeout(1ms, part->read());
        if (piece) told += *piece;
        if (!piece && piece.error() == errc::closed) break;
        if (!piece && piece.error() == errc::timed_out) ++cut_short;
      }
    }
    EXPECT_GE(cut_short, 3U);
    co_return told;
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("POST / HTTP/1.1\r\nHost: a\r\n" + std::string{form_type} +
                         "Transfer-Encoding: chunked\r\n\r\n");
    const std::string body =
        form_part_text("name=a", "first ") + form_part_text("name=b", "second") + "--b--";
    for (std::string_view rest = body; !rest.empty();) {
      const std::string piece{rest.substr(0, 9)};
      co_await client.send(std::to_string(piece.size()) + "\r\n" + piece + "\r\n");
      co_await world().sleep(5ms);
      rest.remove_prefix(piece.size());
    }
    co_await client.send("0\r\n\r\n");  // late, as all the others
    EXPECT_EQ((co_await client.reply()).body, "first second");
  });
}

/// Where there are files.
class multipart_store_test : public testing::each_backend {
 protected:
  void SetUp() override {
    each_backend::SetUp();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    http().within({.body_bytes = 1U << 30U}).post("/", [this](const request& r, body_reader& b) {
      return store(r, b);
    });
  }
  void TearDown() override {
    each_backend::TearDown();
    std::filesystem::remove_all(folder_);
  }
  task<result<std::string>> store(const request& r, body_reader& b) {
    std::string told;
    multipart_reader form{r, b, {.part_bytes = 1'000'000}};
    while (auto part = co_await form.next()) {
      auto saved = co_await store(*part);
      if (!saved) {
        failed_ = saved.error().code();
        co_return fail(saved.error());
      }
      told += saved->path + " " + std::to_string(saved->size_bytes) + "\n";
    }
    if (auto whole = form.outcome(); !whole) co_return fail(whole.error());
    co_return told;
  }
  task<result<stored_part>> store(form_part& part) {
    if (part.name != "named") return part.save_in(folder_);
    return part.save_as(folder_ + "/" + std::string{*part.file_name});
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& each : std::filesystem::directory_iterator{folder_})
      all.push_back(each.path().filename().string());
    return all;
  }
  static std::string content(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  /// The head of a form of `size` bytes, and the start of it.
  static std::string start_of_upload(std::size_t size, std::string_view start) {
    return "POST / HTTP/1.1\r\nHost: a\r\n" + std::string{form_type} +
           "Content-Length: " + std::to_string(size) + "\r\n\r\n" + std::string{start};
  }
  task<void> see_no_files() {
    for (int i = 0; i < 500 && !names().empty(); ++i) co_await world().sleep(10ms);
    EXPECT_TRUE(names().empty()) << names().front();
  }

  std::string folder_ = "/tmp/weft-upload-XXXXXX";
  errc failed_{};
};
INSTANTIATE_TEST_SUITE_P(on, multipart_store_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(multipart_store_test, stores_files_whole) {
  const std::string large = long_content(900'000);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::string form = form_part_text("name=a; filename=x.png", large) +
                             form_part_text("name=b; filename=\"\"", "") +
                             form_part_text("name=named; filename=\"../up.txt\"", "small") +
                             "--b--";
    for (int i = 0; i < 2; ++i) {
      const auto reply = co_await client.ask("POST", "/", form, form_type);
      EXPECT_EQ(reply.status, 200);
      const std::string first = reply.body.substr(0, reply.body.find(' '));
      EXPECT_EQ(first.size(), folder_.size() + 1 + 32) << "a name of its own";
      EXPECT_TRUE(content(first) == large);
      EXPECT_TRUE(reply.body.ends_with(folder_ + "/up.txt 5\n"));
      EXPECT_EQ(content(folder_ + "/up.txt"), "small");
    }
    EXPECT_EQ(names().size(), 5U) << "two times two, and one that was replaced";
  });
}

TEST_P(multipart_store_test, leaves_nothing_of_a_file_whose_client_goes_away) {
  run([&]() -> task<void> {
    for (int round = 0; round < 2; ++round) {
      auto client = co_await world().connect();
      co_await client.send(start_of_upload(
          1'000'000,
          form_part_text("name=a; filename=x", long_content(300'000)).substr(0, 200'000)));
      for (int i = 0; i < 500 && names().empty(); ++i) co_await world().sleep(10ms);
      EXPECT_EQ(names().size(), 1U);
      EXPECT_TRUE(names().front().starts_with('.')) << "not whole yet";
      std::ignore = co_await client.stream().close();
      co_await see_no_files();
      EXPECT_EQ(failed_, errc::reset);
    }
  });
}

TEST_P(multipart_store_test, leaves_nothing_of_a_form_that_is_wrong_or_too_long) {
  run([&]() -> task<void> {
    const std::string cut = form_part_text("name=a; filename=x", long_content(300'000));
    const std::string too_long =
        form_part_text("name=a; filename=x", long_content(1'000'001)) + "--b--";
    auto first = co_await world().connect();
    EXPECT_EQ((co_await first.ask("POST", "/", cut, form_type)).status, 400);
    auto second = co_await world().connect();
    EXPECT_EQ((co_await second.ask("POST", "/", too_long, form_type)).status, 413);
    EXPECT_TRUE(names().empty());
  });
}

TEST_P(multipart_store_test, leaves_nothing_of_a_handler_that_is_stopped) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(start_of_upload(
        1'000'000, form_part_text("name=a; filename=x", long_content(200'000)).substr(0, 150'000)));
    for (int i = 0; i < 500 && names().empty(); ++i) co_await world().sleep(10ms);
    EXPECT_EQ(names().size(), 1U);
    const auto stopped = co_await with_timeout(30ms, http().stop());
    EXPECT_TRUE(stopped.has_value());
    EXPECT_TRUE(names().empty());
  });
}

TEST_P(multipart_store_test, says_why_a_file_cannot_be_stored) {
  std::filesystem::remove_all(folder_);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::string form = form_part_text("name=a; filename=x", "text") + "--b--";
    EXPECT_EQ((co_await client.ask("POST", "/", form, form_type)).status, 404);
    EXPECT_EQ(failed_, errc::not_found);
  });
}

}  // namespace
}  // namespace weft::http

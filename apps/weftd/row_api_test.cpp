// The gate: a warm request for rows allocates nothing; and where memory runs out, what is said of a
// write is so.
#include <apps/weftd/row_api.hpp>

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <weft/base/format.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/service/logger.hpp>
#include <weft/store/sqlite/engine.hpp>
#include <weft/testing/allocation_counter.hpp>
#include <weft/testing/allocation_failure.hpp>
#include <weft/testing/http_fixture.hpp>

#include <apps/weftd/access.hpp>
#include <apps/weftd/api_key.hpp>
#include <apps/weftd/demo_database.hpp>
#include <apps/weftd/reply_compression.hpp>

namespace weftd {
namespace {

using weft::testing::http_client;

/// AddressSanitizer builds take every coroutine frame from the heap, to see its misuse.
bool frames_have_a_pool() {
  weft::frame_pool::deallocate(weft::frame_pool::allocate(64), 64);
  const weft::testing::allocation_counter since;
  weft::frame_pool::deallocate(weft::frame_pool::allocate(64), 64);
  return since.allocations() == 0;
}

std::string post(std::string_view path, std::string_view key, std::string_view body) {
  return weft::format(
      "POST {} HTTP/1.1\r\nHost: x\r\nX-API-KEY: {}\r\nContent-Length: {}\r\n\r\n{}", path, key,
      body.size(), body);
}

class warm_rows : public weft::testing::each_backend {
 protected:
  void SetUp() override {
    each_backend::SetUp();
    std::string name = (std::filesystem::temp_directory_path() / "weftd-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ASSERT_TRUE(make_demo_database(folder_).has_value());
  }
  void TearDown() override {
    each_backend::TearDown();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  /// Asks once and gives the reply's size; its own part allocates nothing.
  static weft::task<std::size_t> ask(http_client& client, std::string_view request,
                                     std::size_t reply_bytes) {
    std::size_t received = 0;
    if (!co_await client.stream().write(request)) co_return received;
    while (received < reply_bytes) {
      const auto bytes = co_await client.stream().read();
      if (!bytes) co_return received;
      received += bytes->size();
    }
    co_return received;
  }

  /// Runs `body` while the demo's rows are served; it is given a key that may write.
  template <class Body>
  void serve(Body body) {
    static constexpr std::string_view name = "store.sqlite.engine";
    weft::lifetime own{name};
    weft::store::sqlite::engine rows{
        {.directory = folder_}, loop(), own, world().metrics().shard(0)};
    const new_key key = make_key({.databases = {"demo"}, .rights = right::write});
    const std::string keys = folder_ + "/keys.toml";
    std::ofstream{keys} << to_toml(key.entry);
    weft::logger log{weft::consumer{}};
    access doors{{.keys = keys, .rate = {.requests = 1'000'000, .burst = 1'000'000}},
                 loop(),
                 log,
                 world().metrics().shard(0)};
    ASSERT_TRUE(doors.start());
    reply_compression compression{{}};
    row_api api{{}, http(), rows, doors, compression};
    run([&]() -> weft::task<void> {
      const auto started = co_await rows.start();
      EXPECT_TRUE(started) << started.error().message();
      co_await body(key.text);
      own.request_end();
      co_await own.ended();
    });
  }

  void expect_no_allocation(std::string_view path, std::string_view body,
                            std::string_view expected) {
    serve([&](std::string_view key) -> weft::task<void> {
      auto client = co_await world().connect();
      const std::string request = post(path, key, body);
      co_await client.send(request);
      const std::string reply = co_await client.receive();
      EXPECT_TRUE(reply.contains(expected)) << reply;
      for (int i = 0; i < 100; ++i) co_await ask(client, request, reply.size());
      const weft::testing::allocation_counter since;
      std::size_t received = 0;
      for (int i = 0; i < 500; ++i) received += co_await ask(client, request, reply.size());
      const std::uint64_t allocations = since.allocations();
      EXPECT_EQ(received, 500 * reply.size());
      EXPECT_EQ(allocations, 0U);
    });
  }

  [[nodiscard]] std::string folder() const { return folder_; }

 private:
  std::string folder_;
};
// Files are real, and so is the time in which they are looked after.
INSTANTIATE_TEST_SUITE_P(on, warm_rows,
                         ::testing::Values(weft::backend_kind::epoll, weft::backend_kind::io_uring),
                         weft::testing::backend_name);

TEST_P(warm_rows, are_read_one_at_a_time_without_an_allocation) {
  if (!frames_have_a_pool()) GTEST_SKIP() << "frames come from the heap in this build";
  expect_no_allocation(
      "/0.1.0/demo/users/pk-read",
      R"({"filters":[{"column":"id","value":"17"}],"operationId":"a \u00e9",)"
      R"("readColumns":[{"column":"name"},{"column":"balance"}]})",
      R"({"code":200,"operationId":"a é","data":{"name":"Tim R.","balance":1346.23}})");
}

TEST_P(warm_rows, are_read_in_batches_without_an_allocation) {
  if (!frames_have_a_pool()) GTEST_SKIP() << "frames come from the heap in this build";
  std::string operations;
  for (int i = 1; i <= 10; ++i)
    operations += weft::format(
        R"({}{{"method":"POST","relative-url":"demo/stock/pk-read","body":{{"filters":[)"
        R"({{"column":"warehouse","value":"VIE"}},{{"column":"article","value":{}}}]}}}})",
        i == 1 ? "" : ",", i);
  expect_no_allocation("/0.2.0/batch", weft::format(R"({{"operations":[{}]}})", operations),
                       R"({"result":[{"code":200,"body":{"operationId":"","data":{"pieces":185,)");
}

/// The first bytes of a reply, which are read without an allocation.
struct received_bytes {
  std::array<char, 4096> room{};
  std::size_t size = 0;

  [[nodiscard]] std::string_view text() const noexcept { return {room.data(), size}; }
  /// Whether all of it is there.
  [[nodiscard]] bool is_whole() const noexcept {
    const std::string_view all = text();
    const auto end = all.find("\r\n\r\n");
    const auto length = all.find("Content-Length: ");
    if (end == all.npos || length == all.npos) return false;
    std::size_t body = 0;
    std::from_chars(room.data() + length + 16, room.data() + size, body);
    return size >= end + 4 + body;
  }
};

TEST_P(warm_rows, are_written_or_not_as_is_said_at_whichever_allocation_memory_runs_out) {
  if (!weft::testing::allocation_failure::is_available()) GTEST_SKIP() << "a sanitizer's malloc";
  serve([&](std::string_view key) -> weft::task<void> {
    sqlite3* rows = nullptr;
    sqlite3_stmt* find = nullptr;
    EXPECT_EQ(sqlite3_open((folder() + "/demo.db").c_str(), &rows), SQLITE_OK);
    const std::string warm =
        post("/0.2.0/demo/users/pk-read", key, R"({"filters":[{"column":"id","value":17}]})");
    int id = 100'000;
    std::uint64_t nth = 0;
    for (bool has_failed = true; has_failed && nth < 5'000; ++nth, ++id) {
      const std::string request =
          post("/0.2.0/batchwrite", key,
               weft::format(R"({{"operations":[{{"method":"POST","relative-url":)"
                            R"("demo/users/pk-insert","body":{{"filters":[{{"column":"id",)"
                            R"("value":{}}}],"writeColumns":[{{"column":"name","value":"n"}},)"
                            R"({{"column":"active","value":1}},{{"column":"balance","value":1)"
                            R"(}}]}}}}]}})",
                            id));
      // The connection has what it keeps for all of its requests.
      auto client = co_await world().connect();
      co_await client.send(warm);
      EXPECT_EQ((co_await client.reply()).status, 200);
      received_bytes received;
      try {
        const weft::testing::allocation_failures here{nth + 1, weft::testing::failing::once};
        bool goes_on = (co_await client.stream().write(std::string_view{request})).has_value();
        while (goes_on && !received.is_whole()) {
          const auto bytes = co_await client.stream().read();
          goes_on = bytes.has_value();
          if (!goes_on) break;
          received.size += bytes->text().copy(received.room.data() + received.size,
                                              received.room.size() - received.size);
        }
        has_failed = here.has_failed();
      } catch (const std::bad_alloc&) {
        received.size = 0;  // it was the client's
      }
      sqlite3_prepare_v2(rows, ("SELECT 1 FROM users WHERE id=" + std::to_string(id)).c_str(), -1,
                         &find, nullptr);
      const bool is_there = sqlite3_step(find) == SQLITE_ROW;
      sqlite3_finalize(find);
      const std::string_view told = received.text();
      if (told.starts_with("HTTP/1.1 200")) EXPECT_TRUE(is_there) << nth << ": " << told;
      const bool is_definite = told.contains("were not written") || told.contains("HTTP/1.1 4");
      if (is_definite) EXPECT_FALSE(is_there) << nth << ": " << told;
      const bool is_refused = told.contains("memory left for requests");
      if (is_refused) EXPECT_FALSE(is_there) << nth << ": " << told;
      if (told.starts_with("HTTP/1.1 5"))
        EXPECT_TRUE(is_definite || is_refused || told.contains("nobody knows")) << told;
      if (told.starts_with("HTTP/1.1 503"))
        EXPECT_TRUE(told.contains("Retry-After: 1\r\n")) << told;
      if (HasFailure()) break;
    }
    EXPECT_LT(nth, 5'000U);
    EXPECT_GT(nth, 3U);  // libc++ allocates more often
    sqlite3_close(rows);
  });
}

}  // namespace
}  // namespace weftd

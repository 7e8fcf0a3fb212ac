#include <weft/base/log.hpp>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace log = weft::log;
using log::level;

// Puts level and sink back, so that no test depends on another.
class log_test : public ::testing::Test {
 protected:
  ~log_test() override {
    log::set_sink(nullptr, nullptr);
    log::set_formatter(nullptr);
    log::set_level(level::info);
  }
};

struct entry {
  level at;
  std::string message;
  bool operator==(const entry&) const = default;
};

void remember(level at, std::string_view message, void* context) {
  static_cast<std::vector<entry>*>(context)->push_back({at, std::string(message)});
}

// What `action` makes the default sink write to stderr.
template <class Action>
std::string stderr_of(Action action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

TEST_F(log_test, the_level_decides_what_the_sink_gets) {
  std::vector<entry> entries;
  log::set_sink(remember, &entries);
  EXPECT_EQ(log::current_level(), level::info);
  log::debug("not yet");
  log::info("a");
  log::set_level(level::trace);
  log::trace("b");
  log::debug("c");
  log::set_level(level::error);
  log::warning("not any more");
  log::error("d");
  log::set_level(level::off);
  log::error("nothing at all");
  const std::vector<entry> expected = {
      {level::info, "a"}, {level::trace, "b"}, {level::debug, "c"}, {level::error, "d"}};
  EXPECT_EQ(entries, expected);
}

TEST_F(log_test, enabled_agrees_with_the_level) {
  log::set_level(level::warning);
  EXPECT_FALSE(log::enabled(level::info));
  EXPECT_TRUE(log::enabled(level::warning));
  EXPECT_TRUE(log::enabled(level::error));
  log::set_level(level::off);
  EXPECT_FALSE(log::enabled(level::error));
  EXPECT_FALSE(log::enabled(level::off));
}

TEST_F(log_test, names_and_levels_convert_both_ways) {
  for (const level at :
       {level::trace, level::debug, level::info, level::warning, level::error, level::off}) {
    EXPECT_EQ(log::parse_level(to_string(at)), at);
  }
  EXPECT_EQ(to_string(level::warning), "warning");
  for (const char* wrong : {"", "Info", "warn", "info "}) {
    const auto parsed = log::parse_level(wrong);
    ASSERT_FALSE(parsed.has_value()) << wrong;
    EXPECT_EQ(parsed.error(), weft::errc::invalid_argument);
  }
}

TEST_F(log_test, the_default_line_has_time_level_and_message) {
  const std::string line = stderr_of([] { log::info("listening on 127.0.0.1:8080"); });
  ASSERT_EQ(line.size(), 24U + 35U);
  std::string shape = line.substr(0, 24);
  std::ranges::replace_if(shape, [](char c) { return c >= '0' && c <= '9'; }, '0');
  EXPECT_EQ(shape, "0000-00-00T00:00:00.000Z");
  EXPECT_EQ(line.substr(24), " info  listening on 127.0.0.1:8080\n");
}

TEST_F(log_test, every_level_has_the_same_width) {
  log::set_level(level::trace);
  const std::string lines = stderr_of([] {
    log::trace("m");
    log::debug("m");
    log::info("m");
    log::warning("m");
    log::error("m");
  });
  ASSERT_EQ(lines.size(), 5U * 33U);
  const char* const columns[] = {" trace m\n", " debug m\n", " info  m\n", " warn  m\n",
                                 " error m\n"};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(lines.substr(33 * i + 24, 9), columns[i]);
}

TEST_F(log_test, a_message_cannot_forge_a_line_or_control_the_terminal) {
  using namespace std::string_view_literals;
  const std::string line = stderr_of([] { log::info("a\nb\rc\x1b[2Jd\0e\x7f\u00e9"sv); });
  EXPECT_EQ(line.substr(31), "a\\nb\\x0dc\\x1b[2Jd\\x00e\\x7f\u00e9\n");
}

TEST_F(log_test, long_messages_arrive_whole) {
  for (const std::size_t size : {1023U, 1024U, 1025U, 100'000U}) {
    const std::string message(size, '\n');
    const std::string line = stderr_of([&] { log::info(message); });
    ASSERT_EQ(line.size(), 31 + 2 * size + 1);
    EXPECT_EQ(line.find_first_not_of("\\n", 31), line.size() - 1);
    EXPECT_EQ(line.back(), '\n');
  }
}

TEST_F(log_test, each_line_is_one_write) {
  int ends[2];  // a datagram a write, so that counting packets counts writes
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
  const int saved_stderr = ::dup(STDERR_FILENO);
  ::dup2(ends[0], STDERR_FILENO);
  log::info("short");
  log::info(std::string(10'000, 'x'));
  ::dup2(saved_stderr, STDERR_FILENO);
  ::close(saved_stderr);
  std::vector<char> packet(20'000);
  const auto receive = [&] { return ::recv(ends[1], packet.data(), packet.size(), MSG_DONTWAIT); };
  EXPECT_EQ(receive(), 31 + 5 + 1);
  EXPECT_EQ(receive(), 31 + 10'000 + 1);
  EXPECT_EQ(receive(), -1);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(log_test, errno_survives) {
  ::testing::internal::CaptureStderr();
  const int saved_stderr = ::dup(STDERR_FILENO);
  ::close(STDERR_FILENO);
  errno = ENOENT;
  log::info("stderr is closed, so the write fails");
  const int after = errno;
  ::dup2(saved_stderr, STDERR_FILENO);
  ::close(saved_stderr);
  log::info("stderr is back");
  const std::string lines = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(after, ENOENT);
  EXPECT_TRUE(lines.contains(" warn  1 line of the log was lost: ")) << lines;
}

TEST_F(log_test, what_a_sink_logs_goes_to_the_default_sink) {
  int calls = 0;
  log::set_sink(
      [](level, std::string_view, void* context) {
        ++*static_cast<int*>(context);
        log::warning("from within");
      },
      &calls);
  const std::string lines = stderr_of([] {
    log::info("outer");
    log::info("the sink is called again afterwards");
  });
  EXPECT_EQ(calls, 2);
  ASSERT_EQ(lines.size(), 2U * 43U);
  EXPECT_EQ(lines.substr(24, 19), " warn  from within\n");
  EXPECT_EQ(lines.substr(43 + 24), " warn  from within\n");
}

TEST_F(log_test, a_logger_is_named_in_its_lines) {
  log::set_level(level::error);
  const log::entry said{level::debug, "http.server\n", "its own level has let it pass"};
  const std::string line = stderr_of([&] { log::write(said); });
  EXPECT_EQ(line.substr(24), " debug http.server\\n: its own level has let it pass\n");
  std::vector<entry> entries;
  log::set_sink(remember, &entries);
  log::write(said);
  const std::vector<entry> expected = {
      {level::debug, "http.server\n: its own level has let it pass"}};
  EXPECT_EQ(entries, expected);
}

TEST_F(log_test, lines_look_as_their_formatter_says) {
  log::set_formatter(
      [](const log::entry& said, std::string& out) { (out += said.message) += " it is\n"; });
  EXPECT_EQ(stderr_of([] { log::info("so"); }), "so it is\n");
  log::set_formatter([](const log::entry&, std::string& out) {
    out += "half a";
    throw std::bad_alloc{};
  });
  EXPECT_EQ(stderr_of([] { log::info("what cannot be formatted is plain"); }).substr(24),
            " info  what cannot be formatted is plain\n");
  log::set_formatter(nullptr);
  EXPECT_EQ(stderr_of([] { log::info("plain again"); }).substr(24), " info  plain again\n");
}

TEST_F(log_test, a_sink_must_not_replace_the_sink) {
  log::set_sink([](level, std::string_view, void*) { log::set_sink(nullptr, nullptr); }, nullptr);
  EXPECT_DEATH(log::info("m"), "a sink cannot replace the sink");
}

TEST_F(log_test, an_old_sink_is_left_before_set_sink_returns) {
  struct guarded {
    std::atomic<bool> valid = true;
    std::atomic<int> calls = 0;
    std::atomic<int> late_calls = 0;
  };
  std::atomic<bool> stop = false;
  guarded contexts[20];
  const auto count = [](level, std::string_view, void* context) {
    auto& target = *static_cast<guarded*>(context);
    ++target.calls;
    std::this_thread::yield();
    if (!target.valid) ++target.late_calls;
  };
  log::set_sink(count, &contexts[0]);
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) {
    writers.emplace_back([&stop] {
      while (!stop) log::info("m");
    });
  }
  for (std::size_t i = 0; i + 1 < std::size(contexts); ++i) {
    while (contexts[i].calls == 0) std::this_thread::yield();
    log::set_sink(count, &contexts[i + 1]);
    contexts[i].valid = false;
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  for (const guarded& context : contexts) EXPECT_EQ(context.late_calls, 0);
}

TEST_F(log_test, lines_of_several_threads_do_not_mix) {
  const std::string lines = stderr_of([] {
    std::vector<std::thread> writers;
    for (const char letter : {'a', 'b', 'c'}) {
      writers.emplace_back([letter] {
        for (int i = 0; i < 200; ++i) log::info(std::string(100, letter));
      });
    }
    for (std::thread& writer : writers) writer.join();
  });
  ASSERT_EQ(lines.size(), 600U * 132U);
  for (std::size_t at = 0; at < lines.size(); at += 132) {
    ASSERT_EQ(lines.substr(at + 31, 101), std::string(100, lines[at + 31]) + "\n");
  }
}

}  // namespace

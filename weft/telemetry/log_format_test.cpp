// Lines as people and programs find them: on a real terminal, and in a file.
#include <weft/telemetry/log_format.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/base/log.hpp>
#include <weft/json/read.hpp>

namespace told {

struct line {
  std::string time;
  std::string level;
  std::string logger;
  std::string message;
};

}  // namespace told

namespace {

namespace log = weft::log;
using weft::log_format;
using weft::use_log_format;

class log_format_test : public ::testing::Test {
 protected:
  ~log_format_test() override {
    log::set_formatter(nullptr);
    log::set_level(log::level::info);
  }
};

template <class Action>
std::string stderr_of(Action action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

// A time as 0000-00-00T00:00:00.000Z.
std::string shape_of(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c >= '0' && c <= '9'; }, '0');
  return text;
}

TEST_F(log_format_test, json_is_an_object_a_line) {
  const std::string lines = stderr_of([] {
    use_log_format(log_format::json);
    log::write({log::level::debug, "http.server", "said \"hi\"\n{\"level\":\"error\"}"});
    log::warning("no logger");
  });
  const std::size_t end = lines.find('\n');
  ASSERT_NE(end, lines.npos);
  const auto first = weft::json::read<told::line>(lines.substr(0, end));
  ASSERT_TRUE(first) << first.error().message() << lines;
  EXPECT_EQ(shape_of(first->time), "0000-00-00T00:00:00.000Z");
  EXPECT_EQ(first->level, "debug");
  EXPECT_EQ(first->logger, "http.server");
  EXPECT_EQ(first->message, "said \"hi\"\n{\"level\":\"error\"}");
  EXPECT_EQ(shape_of(lines.substr(end + 1)),
            "{\"time\":\"0000-00-00T00:00:00.000Z\",\"level\":\"warning\",\"message\":\"no logger\""
            "}\n");
}

TEST_F(log_format_test, pretty_looks_as_lines_before_it_was_chosen) {
  const std::string lines = stderr_of([] {
    log::set_level(log::level::trace);
    for (const bool is_chosen : {false, true}) {
      if (is_chosen) use_log_format(log_format::pretty);
      for (const auto at : {log::level::trace, log::level::debug, log::level::info,
                            log::level::warning, log::level::error})
        log::write({at, at < log::level::info ? "store" : "", "a\tb"});
    }
  });
  const std::string shape = shape_of(lines);
  EXPECT_EQ(shape.substr(0, shape.size() / 2), shape.substr(shape.size() / 2));
  EXPECT_TRUE(shape.starts_with("0000-00-00T00:00:00.000Z trace store: a\\x00b\n")) << lines;
  EXPECT_TRUE(shape.ends_with("0000-00-00T00:00:00.000Z error a\\x00b\n")) << lines;
}

TEST_F(log_format_test, auto_is_json_where_there_is_no_terminal) {
  EXPECT_TRUE(stderr_of([] {
                use_log_format(log_format::auto_);
                log::info("m");
              }).starts_with("{\"time\":\""));
}

TEST_F(log_format_test, long_messages_arrive_whole) {
  const std::string message(100'000, '"');
  const std::string lines = stderr_of([&message] {
    use_log_format(log_format::json);
    log::write({log::level::info, "store", message});
  });
  const auto line =
      weft::json::read<told::line>(std::string_view{lines}.substr(0, lines.size() - 1));
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_EQ(line->message, message);
}

// What is logged at `format` on a terminal of its own.
std::string on_a_terminal(log_format format) {
  const int controller = ::posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_GE(controller, 0);
  EXPECT_EQ(::grantpt(controller), 0);
  EXPECT_EQ(::unlockpt(controller), 0);
  const int terminal = ::open(::ptsname(controller), O_RDWR | O_NOCTTY | O_CLOEXEC);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(terminal, STDERR_FILENO);
  use_log_format(format);
  log::warning("careful");
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::string seen;
  while (!seen.contains('\n')) {
    char part[256];
    const auto bytes = ::read(controller, part, sizeof part);
    if (bytes <= 0) break;
    seen.append(part, static_cast<std::size_t>(bytes));
  }
  ::close(terminal);
  ::close(controller);
  return seen;
}

TEST_F(log_format_test, a_terminal_has_colours_unless_somebody_minds) {
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  for (const log_format each : {log_format::auto_, log_format::pretty})
    EXPECT_EQ(on_a_terminal(each).substr(24), " \x1b[1;33mwarn \x1b[0m careful\r\n");
  EXPECT_TRUE(on_a_terminal(log_format::json).starts_with("{\"time\""));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(on_a_terminal(log_format::auto_).substr(24), " warn  careful\r\n");
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_EQ(on_a_terminal(log_format::auto_).substr(24), " warn  careful\r\n");
  EXPECT_TRUE(stderr_of([] { log::info("m"); }).contains(" info  m"));
}

}  // namespace

// What becomes of lines that stderr does not take: with real pipes, terminals and sockets.
#include <weft/base/log.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/base/log_descriptor.hpp>

namespace {

namespace log = weft::log;

// Stderr is `descriptor`, which is closed then, for as long as this lives.
class redirected {
 public:
  explicit redirected(int descriptor) : before_{::dup(STDERR_FILENO)} {
    ::dup2(descriptor, STDERR_FILENO);
    ::close(descriptor);
  }
  redirected(const redirected&) = delete;
  redirected& operator=(const redirected&) = delete;
  ~redirected() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

// What can be read now without waiting.
std::string drain(int from) {
  std::string all;
  char part[4096];
  for (pollfd ready{from, POLLIN, 0}; ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN) != 0;) {
    const auto bytes = ::read(from, part, sizeof part);
    if (bytes <= 0) break;
    all.append(part, static_cast<std::size_t>(bytes));
  }
  return all;
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++found;
  return found;
}

// The sum of all that the log says it has lost.
std::uint64_t told_losses(std::string_view text) {
  constexpr std::string_view before = " warn  ";
  std::uint64_t sum = 0;
  for (std::size_t at = 0; (at = text.find(before, at)) != text.npos;) {
    at += before.size();
    sum += std::strtoull(text.data() + at, nullptr, 10);
  }
  return sum;
}

// Says so much that it does not fit, reads it, and speaks again until that is heard. A line that
// waited would keep this test for ever.
void expect_losses_are_told(int reader) {
  std::size_t said = 20'000;
  const std::uint64_t lost_before = log::lines_lost();
  for (std::size_t i = 0; i < said; ++i) log::info("said in vain?");
  EXPECT_GT(log::lines_lost(), lost_before);
  std::string seen = drain(reader);
  EXPECT_GT(seen.size(), 0U);
  for (std::uint64_t lost_then = 0; lost_then != log::lines_lost();) {
    lost_then = log::lines_lost();
    ++said;
    log::info("the last");
    seen += drain(reader);
  }
  while (!seen.contains(" info  the last")) {  // a terminal hands on when it likes
    pollfd ready{reader, POLLIN, 0};
    ::poll(&ready, 1, -1);
    seen += drain(reader);
  }
  const std::uint64_t lost = log::lines_lost() - lost_before;
  EXPECT_EQ(count(seen, "said in vain?") + count(seen, "the last") + lost, said);
  EXPECT_EQ(told_losses(seen), lost);
}

TEST(log_output, does_not_wait_for_a_pipe_that_nobody_reads) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    const redirected stderr_is{ends[1]};
    expect_losses_are_told(ends[0]);
    EXPECT_EQ(::fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0) << "others share it";
  }
  ::close(ends[0]);
}

TEST(log_output, does_not_wait_for_a_terminal_that_nobody_reads) {
  const int controller = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(controller, 0);
  ASSERT_EQ(::grantpt(controller), 0);
  ASSERT_EQ(::unlockpt(controller), 0);
  const int terminal = ::open(::ptsname(controller), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  {
    const redirected stderr_is{terminal};
    expect_losses_are_told(controller);
  }
  ::close(controller);
}

TEST(log_output, does_not_wait_for_a_socket_that_nobody_reads) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  {
    const redirected stderr_is{ends[1]};
    expect_losses_are_told(ends[0]);
  }
  ::close(ends[0]);
}

TEST(log_output, counts_what_nobody_can_read_any_more) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::uint64_t lost = log::lines_lost();
  {
    const redirected stderr_is{ends[1]};
    ::close(ends[0]);
    log::info("a");
    ::close(STDERR_FILENO);
    log::info("b");
  }
  EXPECT_EQ(log::lines_lost() - lost, 2U);
  std::signal(SIGPIPE, before);
  ::testing::internal::CaptureStderr();
  log::info("told");  // so that no other test is
  EXPECT_TRUE(::testing::internal::GetCapturedStderr().contains(" 2 lines of the log were lost"));
}

TEST(log_output, a_full_disk_is_no_end) {
  ::testing::internal::CaptureStderr();
  const rlimit none{0, RLIM_INFINITY};
  rlimit before{};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  log::info("no room");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  log::info("room again");
  const std::string lines = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(lines.contains(" 1 line of the log was lost")) << lines;
  EXPECT_FALSE(lines.contains("no room")) << lines;
}

TEST(log_output, finishes_a_line_before_it_begins_the_next) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  log::detail::log_descriptor to{ends[1]};
  std::string expected;
  std::string seen;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    const std::string line = std::string(100'000, letter) + '\n';  // more than a pipe holds
    if (to.write(line)) expected += line;
    EXPECT_FALSE(to.write("in between\n")) << "the pipe is full";
    seen += drain(ends[0]);
  }
  while (!to.write("end\n")) seen += drain(ends[0]);
  seen += drain(ends[0]);
  EXPECT_EQ(seen, expected + "end\n");
  EXPECT_GE(expected.size(), 2U * 100'001U);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(log_output, follows_stderr_to_another_file) {
  int first[2];
  int second[2];
  ASSERT_EQ(::pipe(first), 0);
  ASSERT_EQ(::pipe(second), 0);
  {
    const redirected stderr_is{first[1]};
    log::info("to the first");
    ::dup2(second[1], STDERR_FILENO);
    log::info("to the second");
    EXPECT_TRUE(drain(first[0]).contains("to the first"));
    char end;
    EXPECT_EQ(::read(first[0], &end, 1), 0) << "nobody holds the first open any more";
  }
  ::close(second[1]);
  EXPECT_TRUE(drain(second[0]).contains("to the second"));
  ::close(first[0]);
  ::close(second[0]);
}

}  // namespace

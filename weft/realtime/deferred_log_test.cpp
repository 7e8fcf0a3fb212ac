#include <weft/realtime/deferred_log.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <weft/base/sanitizers.hpp>
#include <weft/loop/thread_place.hpp>
#include <weft/net/call_counter_test.hpp>
#include <weft/realtime/deadline_miss_format.hpp>
#include <weft/realtime/thread_setup.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::realtime {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;

constexpr std::string_view name = "control: ";
constexpr std::string_view time_shape = "00:00:00.000000 ";

/// A line without its name, and without the time if it has one.
std::string text_of(std::string_view line) {
  EXPECT_TRUE(line.starts_with(name)) << line;
  line.remove_prefix(name.size());
  const bool has_time = line.size() > 8 && line[2] == ':' && line[8] == '.';
  return std::string{line.substr(has_time ? time_shape.size() : 0)};
}

/// What the program's log gets, on the thread of the deferred log; which can be held there.
class deferred_log_test : public ::testing::Test {
 public:
  deferred_log_test() { log::set_sink(&on_line, this); }
  ~deferred_log_test() override {
    log::set_sink(nullptr, nullptr);
    log::set_level(log::level::info);
  }

 protected:
  void hold() { let_pass_ = 0; }
  void let_pass(std::size_t more) {
    const std::lock_guard held{lock_};
    let_pass_ += more;
    changed_.notify_all();
  }
  /// Until so many lines have come, the one that is held included.
  void await_lines(std::size_t count) {
    std::unique_lock held{lock_};
    changed_.wait(held, [&] { return lines_.size() >= count; });
  }

  std::vector<std::string> lines_;  // once the log has ended

 private:
  static void on_line(log::level, std::string_view line, void* context) {
    auto& test = *static_cast<deferred_log_test*>(context);
    std::unique_lock held{test.lock_};
    test.lines_.push_back(text_of(line));
    test.changed_.notify_all();
    test.changed_.wait(held, [&] { return test.let_pass_ != 0; });
    --test.let_pass_;
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::size_t let_pass_ = SIZE_MAX / 2;
};

using lines = std::vector<std::string>;

TEST_F(deferred_log_test, gives_on_what_was_written_before_it_ends) {
  lines all;
  {
    deferred_log log{{.name = "control", .poll = hours{1}}};
    for (int i = 0; i < 1000; ++i) {
      log.write(log::level::info, "line {}", i);
      all.push_back("line " + std::to_string(i));
    }
  }
  EXPECT_EQ(lines_, all);
}

TEST_F(deferred_log_test, gives_on_each_poll) {
  deferred_log log{{.name = "control", .poll = microseconds{1}}};
  for (std::size_t i = 1; i <= 3; ++i) {
    log.write(log::level::info, "here");
    await_lines(i);
  }
}

TEST_F(deferred_log_test, values_are_those_at_the_time_of_writing) {
  {
    deferred_log log{{.name = "control"}};
    std::string text = "before";
    std::array<char, 4> letters{'a', 'b', 'c', '\0'};
    int number = 7;
    log.write(log::level::info, "{:>8} {} {:03} {:.2f} {} {} {}", text, letters.data(), number, 2.5,
              true, 'x', std::string{"temporary"});
    text = "after";
    letters.fill('z');
    number = 8;
    log.write(log::level::info, "{}", "literal");
    log.write(log::level::info, "{1} {0}", std::uint64_t{1} << 63U, std::string_view{});
    log.write(log::level::info, "none");
  }
  EXPECT_EQ(lines_, (lines{"  before abc 007 2.50 true x temporary", "literal",
                           " 9223372036854775808", "none"}));
}

TEST_F(deferred_log_test, long_texts_are_cut_between_characters) {
  const std::string longest(47, 'a');
  const std::string wide = std::string(43, 'a') + "éé and more";
  {
    deferred_log log{{.name = "control"}};
    log.write(log::level::info, "{}", longest);
    log.write(log::level::info, "{}", longest + 'a');
    log.write(log::level::info, "{}", wide);
  }
  EXPECT_EQ(lines_, (lines{longest, std::string(44, 'a') + "...", std::string(43, 'a') + "..."}));
}

TEST_F(deferred_log_test, a_miss_is_a_value) {
  const deadline_miss miss{.task = "valve", .number = 7, .deadline = microseconds{1}};
  {
    deferred_log log{{.name = "control"}};
    log.write(log::level::warning, "{}", miss);
  }
  EXPECT_EQ(lines_, lines{describe(miss)});
}

TEST_F(deferred_log_test, has_the_time_of_writing) {
  using namespace std::chrono;
  static std::string line;
  log::set_sink([](log::level, std::string_view text, void*) { line = text; }, nullptr);
  const auto since_midnight = [] {
    const auto now = floor<microseconds>(system_clock::now());
    return now - floor<days>(now);
  };
  const auto before = since_midnight();
  {
    deferred_log log{{}};
    log.write(log::level::info, "now");
  }
  const auto after = since_midnight();
  ASSERT_EQ(line.size(), time_shape.size() + 3) << line;
  const auto number_at = [](std::size_t at, std::size_t digits) {
    std::int64_t number = -1;
    std::from_chars(line.data() + at, line.data() + at + digits, number);
    return number;
  };
  const microseconds written = hours{number_at(0, 2)} + minutes{number_at(3, 2)} +
                               seconds{number_at(6, 2)} + microseconds{number_at(9, 6)};
  if (after < before) GTEST_SKIP() << "midnight has passed";
  EXPECT_GE(written, before);
  EXPECT_LE(written, after);
}

TEST_F(deferred_log_test, what_finds_no_room_is_counted_and_told_of_where_it_is_missing) {
  {
    deferred_log log{{.name = "control", .lines = 4, .poll = microseconds{1}}};
    hold();
    log.write(log::level::info, "line 0");
    await_lines(1);
    for (int i = 1; i < 16; ++i) log.write(log::level::info, "line {}", i);
    EXPECT_EQ(log.lost(), 12U);
    let_pass(1);
    await_lines(2);
    log.write(log::level::info, "then");
    log.write(log::level::info, "too much");
    EXPECT_EQ(log.lost(), 13U);
    let_pass(SIZE_MAX / 2);
  }
  EXPECT_EQ(lines_,
            (lines{"line 0", "line 1", "line 2", "line 3", "12 lines lost: 4 waited already",
                   "then", "1 line lost: 4 waited already"}));
}

TEST_F(deferred_log_test, lines_below_the_level_take_no_room) {
  {
    deferred_log log{{.name = "control", .lines = 1}};
    log::set_level(log::level::warning);
    for (int i = 0; i < 10; ++i) log.write(log::level::info, "quiet");
    log.write(log::level::warning, "loud");
    EXPECT_EQ(log.lost(), 0U);
  }
  EXPECT_EQ(lines_, lines{"loud"});
}

struct without_words {};
struct throws_a_number {};

}  // namespace
}  // namespace weft::realtime

template <>
struct std::formatter<weft::realtime::without_words> : std::formatter<std::string_view> {
  template <class Context>
  auto format(weft::realtime::without_words, Context& context) const -> decltype(context.out()) {
    throw std::runtime_error{"no words"};
  }
};

template <>
struct std::formatter<weft::realtime::throws_a_number> : std::formatter<std::string_view> {
  template <class Context>
  auto format(weft::realtime::throws_a_number, Context& context) const -> decltype(context.out()) {
    throw 42;
  }
};

namespace weft::realtime {
namespace {

TEST_F(deferred_log_test, goes_on_after_a_formatter_that_throws) {
  {
    deferred_log log{{.name = "control"}};
    log.write(log::level::info, "{}", without_words{});
    log.write(log::level::info, "{}", throws_a_number{});
    log.write(log::level::info, "then");
  }
  EXPECT_EQ(lines_,
            (lines{"no words", "a formatter has thrown what is no std::exception", "then"}));
}

TEST_F(deferred_log_test, options_that_make_no_ring_are_refused) {
  EXPECT_THROW(deferred_log({.lines = 0}), std::invalid_argument);
  EXPECT_THROW(deferred_log({.lines = 1000}), std::invalid_argument);
  EXPECT_THROW(deferred_log({.poll = duration::zero()}), std::invalid_argument);
  EXPECT_THROW(deferred_log({.poll = duration::max()}), std::invalid_argument);
}

/// Each kind of value, and more lines than there is room for.
void write_many(deferred_log& log) {
  for (int i = 0; i < 100; ++i)
    log.write(log::level::info, "{} {} {}", i, "a text", std::string_view{"another one"});
  log.write(log::level::warning, "{}", deadline_miss{});
}

TEST_F(deferred_log_test, the_writer_allocates_nothing) {
  deferred_log log{{.name = "control", .lines = 16}};
  const testing::allocation_counter since;
  write_many(log);
  const std::uint64_t allocations = since.allocations();
  EXPECT_EQ(allocations, 0U);
}

TEST(deferred_log, the_writer_makes_no_system_call) {
  if (WEFT_SANITIZED != 0) GTEST_SKIP() << "threads of a forked process are not watched";
  const auto calls = net::system_calls_between_marks([] {
    log::set_sink([](log::level, std::string_view, void*) {}, nullptr);
    deferred_log log{{.name = "control", .lines = 16}};
    net::mark();
    write_many(log);
    net::mark();
    return true;
  });
  if (!calls) GTEST_SKIP() << "no process may trace its child here";
  EXPECT_EQ(*calls, 0U);
}

TEST(deferred_log, its_thread_is_an_ordinary_one_that_no_signal_interrupts) {
  static std::array<bool, 2> seen;
  log::set_sink(
      [](log::level, std::string_view, void*) {
        sigset_t blocked;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        int policy = -1;
        sched_param facts{};
        ::pthread_getschedparam(::pthread_self(), &policy, &facts);
        seen = {sigismember(&blocked, SIGTERM) == 1, policy == SCHED_OTHER};
      },
      nullptr);
  std::thread{[] {
    const sched_param first{.sched_priority = 1};
    ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &first);  // where it may
    deferred_log log{{}};
    log.write(log::level::info, "now");
  }}.join();
  log::set_sink(nullptr, nullptr);
  EXPECT_EQ(seen, (std::array{true, true}));
}

/// Of this process.
std::set<pid_t> threads() {
  std::set<pid_t> found;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/task"})
    found.insert(std::stoi(each.path().filename()));
  return found;
}

/// A pinned realtime thread that does not wait lets no other run on its CPU.
TEST(deferred_log, its_thread_does_not_need_its_makers_cpu_to_leave_it) {
  std::thread{[] {
    const unsigned all = usable_cpus();
    if (!apply({.policy = scheduling::fifo, .cpu = last_usable_cpu()}).is_whole())
      GTEST_SKIP() << "SCHED_FIFO is not permitted here: `setcap cap_sys_nice+ep` would allow it";
    const std::set<pid_t> before = threads();
    const deferred_log log{{}};
    unsigned made = 0;
    for (const pid_t each : threads()) {
      if (before.contains(each)) continue;
      ++made;
      cpu_set_t may;
      ASSERT_EQ(::sched_getaffinity(each, sizeof may, &may), 0);
      EXPECT_EQ(static_cast<unsigned>(CPU_COUNT(&may)), all);
    }
    EXPECT_EQ(made, 1U);
  }}.join();
}

TEST_F(deferred_log_test, writer_and_reader_race_and_every_line_is_there_or_counted) {
  constexpr std::uint64_t written = WEFT_SANITIZED != 0 ? 20'000 : 200'000;
  std::uint64_t lost = 0;
  {
    deferred_log log{{.name = "control", .lines = 64, .poll = microseconds{1}}};
    for (std::uint64_t i = 1; i <= written; ++i) {
      log.write(log::level::info, "{} {}", i, "text");
      if (i % 50 == 0) std::this_thread::yield();  // so that the other side has a share in it
    }
    lost = log.lost();
  }
  std::uint64_t last = 0;
  std::uint64_t told = 0;
  for (const std::string& line : lines_) {
    std::uint64_t number = 0;
    std::from_chars(line.data(), line.data() + line.size(), number);
    if (line.contains("lost")) {
      told += number;
      last += number;  // those that are missing
    } else {
      ++last;
      ASSERT_EQ(line, std::to_string(number) + " text");
      ASSERT_EQ(number, last);
    }
  }
  EXPECT_EQ(told, lost);
  EXPECT_EQ(last, written);
}

}  // namespace
}  // namespace weft::realtime

#include <weft/service/application.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/base/log_levels.hpp>
#include <weft/loop/event_loop.hpp>

namespace bakery {

struct oven_options {
  int loaves = 10;
  std::string flour = "wheat";
};

// Says what it was made with.
struct oven {
  using options = oven_options;
  explicit oven(options given) { seen() = std::move(given); }
  static options& seen() {
    static options last;
    return last;
  }
};

// Keeps its shard until that is noticed, or nobody seems to look.
struct kneader {
  explicit kneader(weft::event_loop& loop) {
    for (int i = 0; i < 20'000 && !loop.pulse().is_overdue; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
};

}  // namespace bakery

namespace {

// A file of options that lives as long as this does.
class options_file {
 public:
  explicit options_file(const std::string& text) {
    const int file = ::mkstemp(path_);
    EXPECT_GE(file, 0);
    ::close(file);
    write(text);
  }
  void write(const std::string& text) const {
    std::ofstream file{path_, std::ios::trunc};
    file << text;
    EXPECT_TRUE(file.flush().good());
  }
  options_file(const options_file&) = delete;
  options_file& operator=(const options_file&) = delete;
  ~options_file() { ::unlink(path_); }
  [[nodiscard]] const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/weft_options_XXXXXX";
};

class application_config : public ::testing::Test {
 protected:
  /// The exit code of a bakery that closes at once.
  int run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "bakery");
    bakery::oven::seen() = {.loaves = -1, .flour = ""};
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    weft::application app{static_cast<int>(arguments.size()), const_cast<char**>(arguments.data())};
    app.add<bakery::oven>({.flour = "rye"});
    app.request_stop();
    const int code = app.run();
    out = ::testing::internal::GetCapturedStdout();
    err = ::testing::internal::GetCapturedStderr();
    return code;
  }

  ~application_config() override { weft::log::set_formatter(nullptr); }

  std::string out;
  std::string err;
};

TEST_F(application_config, gives_services_what_the_file_and_the_command_line_say) {
  const options_file file{"[bakery.oven]\nloaves = 7\nflour = 'spelt'\n"};
  EXPECT_EQ(run({"--config", file.path(), "--bakery.oven.loaves=8"}), 0);
  EXPECT_EQ(bakery::oven::seen().loaves, 8);
  EXPECT_EQ(bakery::oven::seen().flour, "spelt");
  EXPECT_EQ(run({"--set", "bakery.oven.loaves=9"}), 0);
  EXPECT_EQ(bakery::oven::seen().loaves, 9);
  EXPECT_EQ(bakery::oven::seen().flour, "rye") << "the program's";
}

TEST_F(application_config, watches_for_stalls_as_the_command_line_says) {
  std::vector<const char*> arguments{"bakery", "--application.stall_limit=10ms"};
  ::testing::internal::CaptureStderr();
  weft::application app{2, const_cast<char**>(arguments.data()), {.stall_limit = {}}};
  app.add<bakery::kneader>();
  app.request_stop();
  EXPECT_EQ(app.run(), 0);
  EXPECT_TRUE(::testing::internal::GetCapturedStderr().contains("shard 0 was kept for "));
}

TEST_F(application_config, a_day_is_the_longest_limit_of_a_stall) {
  EXPECT_EQ(run({"--application.stall_limit=25h"}), 2);
  EXPECT_TRUE(err.contains("application.stall_limit is from 0s to 1d; \"25h\" is out of range"))
      << err;
  EXPECT_EQ(run({"--application.stall_limit=0s"}), 0);
}

TEST_F(application_config, prints_what_it_would_run_with_and_runs_nothing) {
  const options_file file{"[log]\nlevel = 'warning'\n[application]\nthreads = 3\n"};
  EXPECT_EQ(run({"--config", file.path(), "--threads=2", "--print-config"}), 0);
  EXPECT_EQ(bakery::oven::seen().loaves, -1);
  EXPECT_EQ(err, "");
  EXPECT_EQ(out, std::string{R"([application]
threads = 2            # --threads
backend = "auto"       # default
idle = "sleep"         # default
stop_timeout = "10s"   # default
stall_limit = "100ms"  # default
memory_bytes = 0       # default

[realtime]
policy = "other"               # default
priority = 10                  # default
cpus = []                      # default
lock_memory = false            # default
stack_bytes = 0                # default
heap_bytes = 0                 # default
# timer_slack is not set       # default
keep_processors_awake = false  # default
allocations = "allow"          # default

[realtime.budget]
runtime = "0s"   # default
deadline = "0s"  # default
period = "0s"    # default

[log]
level = "warning"  # )"} +
                     file.path() + R"(:2:9
levels = []        # default
format = "auto"    # default

[bakery.oven]
loaves = 10    # default
flour = "rye"  # program
)");
}

TEST_F(application_config, hears_of_the_applications_own_options_from_a_file) {
  const options_file file{"[application]\nbackend = 'epoll'\n[log]\nlevel = 'off'\n"};
  EXPECT_EQ(run({"--config", file.path()}), 0);
  EXPECT_EQ(weft::log::current_level(), weft::log::level::off);
  EXPECT_EQ(run({"--config", file.path(), "--log-level", "warning"}), 0);
  EXPECT_EQ(weft::log::current_level(), weft::log::level::warning);
  weft::log::set_level(weft::log::level::info);
}

TEST_F(application_config, hears_how_the_log_is_to_be) {
  EXPECT_EQ(run({"--log-format", "json", "--log.levels=bakery=trace,bakery.oven=off"}), 0);
  EXPECT_TRUE(err.starts_with("{\"time\":\"")) << err;
  EXPECT_EQ(weft::log::level_of("bakery.shop"), weft::log::level::trace);
  EXPECT_EQ(weft::log::level_of("bakery.oven"), weft::log::level::off);
  weft::log::forget_named_levels();
  EXPECT_EQ(run({"--log.format=pretty"}), 0);
  EXPECT_TRUE(err.contains("Z info  ready, 1 shard\n")) << err;
  const options_file file{"[log]\nlevels = ['a=info', 'b=loud']\n"};
  EXPECT_EQ(run({"--config", file.path()}), 2);
  EXPECT_EQ(err, std::string{"bakery: "} + file.path() +
                     ":2:10: log.levels is a list of NAME=LEVEL, such as \"http.server=debug\" "
                     "(trace, debug, info, warning, error, off), not \"b=loud\"\n");
}

/// Changes the file of options, has it read, and ends the program.
struct rereader {
  weft::result<void> reload() {
    seen = weft::log::current_level();
    seen_named = weft::log::level_of("bakery.oven");
    ::kill(::getpid(), SIGTERM);
    return {};
  }
  static inline weft::log::level seen{};
  static inline weft::log::level seen_named{};
};

TEST_F(application_config, hears_on_a_hangup_how_the_log_is_to_be_from_now_on) {
  const auto level_after = [this](const std::string& text) {
    const options_file file{"[log]\nlevel = 'warning'\nlevels = ['bakery.oven=trace']\n"};
    std::vector<const char*> arguments{"bakery", "--config", file.path()};
    weft::application app{3, const_cast<char**>(arguments.data())};
    app.add<bakery::oven>();
    app.add<rereader>();
    app.on_ready([&] {
      file.write(text);
      ::kill(::getpid(), SIGHUP);
    });
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(app.run(), 0);
    err = ::testing::internal::GetCapturedStderr();
    weft::log::forget_named_levels();
    weft::log::set_level(weft::log::level::info);
    return rereader::seen;
  };
  EXPECT_EQ(level_after("[log]\nlevel = 'error'\n[bakery.oven]\nloaves = 4\n"),
            weft::log::level::error);
  EXPECT_EQ(rereader::seen_named, weft::log::level::error);
  EXPECT_EQ(level_after("[log]\nlevel = 'loud'\n"), weft::log::level::warning);
  EXPECT_EQ(rereader::seen_named, weft::log::level::trace);
  EXPECT_TRUE(err.contains("the log stays as it is: ")) << err;
  EXPECT_TRUE(err.contains(":2:9: log.level is one of ")) << err;
}

TEST_F(application_config, says_whether_all_options_are_right_and_runs_nothing) {
  EXPECT_EQ(run({"--check-config"}), 0);
  EXPECT_EQ(out, "all options are right\n");
  EXPECT_EQ(run({"--check-config", "--bakery.oven.loaves=many"}), 2);
  EXPECT_EQ(out, "");
  EXPECT_TRUE(err.starts_with("bakery: --bakery.oven.loaves: ")) << err;
  EXPECT_EQ(bakery::oven::seen().loaves, -1);
}

TEST_F(application_config, says_what_shards_were_given_of_what_they_asked_for) {
  const options_file file{"[realtime]\ntimer_slack = '1us'\nstack_bytes = '64KiB'\n"};
  std::thread{[&] {
    EXPECT_EQ(run({"--config", file.path(), "--threads=2", "--realtime.cpus=1000",
                   "--realtime.allocations=log"}),
              0);
  }}.join();
  for (const char* const line :
       {R"("info","message":"shard 0: timers late by 1000 ns at most  yes")",
        R"("info","message":"shard 1: 64 KiB of stack touched  yes")",
        R"("warning","message":"shard 1: on CPU 1000 alone  NO: Invalid argument; to allow it: )",
        R"("warning","message":"shard 0: allocations watched  NO: this program's malloc tells )"
        R"(nobody; to allow it: link it with weft::realtime_guard")"})
    EXPECT_TRUE(err.contains(line)) << line << "\n" << err;
}

TEST_F(application_config, refuses_what_the_policy_of_realtime_shards_does_not_use) {
  EXPECT_EQ(run({"--realtime.priority=20"}), 2);
  EXPECT_TRUE(
      err.contains("--realtime.priority: realtime.priority is 20, which only policy "
                   "\"fifo\" uses: set realtime.policy to that, or leave it out"))
      << err;
  const options_file file{"[realtime]\npolicy = 'fifo'\nbudget.period = '5ms'\n"};
  EXPECT_EQ(run({"--config", file.path()}), 2);
  EXPECT_TRUE(
      err.contains(":3:17: realtime.budget.period is \"5ms\", which only policy "
                   "\"deadline\" uses: "))
      << err;
}

TEST_F(application_config, takes_another_policy_than_the_programs_without_its_priority) {
  const auto run_fifo_program = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "bakery");
    weft::application app{
        static_cast<int>(arguments.size()),
        const_cast<char**>(arguments.data()),
        {.realtime = {.policy = weft::realtime::scheduling::fifo, .priority = 20}}};
    return app.run();
  };
  EXPECT_EQ(run_fifo_program({"--realtime.policy=other", "--check-config"}), 0);
  EXPECT_EQ(
      run_fifo_program({"--realtime.policy=other", "--realtime.priority=30", "--check-config"}), 2);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run_fifo_program({"--realtime.policy=other", "--print-config"}), 0);
  const options_file printed{::testing::internal::GetCapturedStdout()};
  EXPECT_EQ(run_fifo_program({"--config", printed.path(), "--check-config"}), 0);
}

TEST_F(application_config, refuses_what_realtime_shards_may_not_have_together) {
  EXPECT_EQ(run({"--realtime.policy=deadline", "--realtime.cpus=0"}), 2);
  EXPECT_TRUE(err.contains("realtime.cpus: a thread of policy \"deadline\" may not be pinned"))
      << err;
  EXPECT_EQ(run({"--realtime.policy=deadline", "--realtime.budget.runtime=5ms",
                 "--realtime.budget.deadline=1ms", "--realtime.budget.period=10ms"}),
            2);
  EXPECT_TRUE(err.contains("realtime.budget: ")) << err;
  EXPECT_EQ(run({"--realtime.policy=fifo", "--realtime.priority=100"}), 2);
  EXPECT_TRUE(err.contains("realtime.priority is from 1 to 99")) << err;
}

TEST_F(application_config, takes_a_deadline_without_the_programs_cpus) {
  const auto run_pinned_program = [](const char* more) {
    std::vector arguments{"bakery",
                          "--realtime.policy=deadline",
                          "--realtime.budget.runtime=1ms",
                          "--realtime.budget.deadline=10ms",
                          "--realtime.budget.period=10ms",
                          "--check-config",
                          more};
    weft::application app{
        static_cast<int>(arguments.size()),
        const_cast<char**>(arguments.data()),
        {.realtime = {.policy = weft::realtime::scheduling::fifo, .priority = 20, .cpus = {0}}}};
    return app.run();
  };
  EXPECT_EQ(run_pinned_program("--threads=1"), 0);
  EXPECT_EQ(run_pinned_program("--realtime.cpus=0"), 2);
}

TEST_F(application_config, lets_the_program_say_what_does_not_go_together) {
  const auto run_with = [this](const char* loaves) {
    std::vector<const char*> arguments{"bakery", loaves};
    weft::application app{2, const_cast<char**>(arguments.data())};
    app.add<bakery::oven>();
    app.check_options([&app] {
      std::vector<std::string> faults;
      if (app.options_for<bakery::oven>().loaves > 10) faults.emplace_back("too many for wheat");
      return faults;
    });
    app.request_stop();
    ::testing::internal::CaptureStderr();
    const int code = app.run();
    err = ::testing::internal::GetCapturedStderr();
    return code;
  };
  EXPECT_EQ(run_with("--bakery.oven.loaves=10"), 0);
  EXPECT_EQ(run_with("--bakery.oven.loaves=11"), 2);
  EXPECT_EQ(err, "bakery: too many for wheat\n");
}

TEST_F(application_config, refuses_wrong_options_before_anything_is_made) {
  const options_file file{"[bakery.oven]\nloafs = 7\n[application]\nidle = 'often'\n"};
  EXPECT_EQ(run({"--config", file.path(), "--bakery.oven.flour.kind=1"}), 2);
  EXPECT_EQ(bakery::oven::seen().loaves, -1);
  const std::string prefix = std::string{"bakery: "} + file.path();
  EXPECT_TRUE(err.starts_with(prefix + ":2:1: bakery.oven has no option \"loafs\"; did you mean "
                                       "'loaves'?\n"))
      << err;
  EXPECT_TRUE(
      err.contains("bakery: --bakery.oven.flour.kind: bakery.oven.flour is text, not a "
                   "table\n"))
      << err;
  EXPECT_TRUE(err.contains(prefix + ":4:8: application.idle: ")) << err;
  EXPECT_EQ(run({"--config", "/nowhere/bakery.toml"}), 2);
  EXPECT_TRUE(err.starts_with("bakery: cannot read /nowhere/bakery.toml: ")) << err;
  EXPECT_EQ(run({"--application.threads=1025"}), 2);
  EXPECT_EQ(
      err,
      "bakery: --application.threads: application.threads is from 0 to 1024; \"1025\" is out of "
      "range\n");
}

TEST_F(application_config, knows_services_by_their_names) {
  const char* arguments[] = {"bakery", "--print-config", "--large.loaves=900"};
  weft::application app{3, const_cast<char**>(arguments)};
  app.add<bakery::oven>({.loaves = 5}).named("small");
  app.add<bakery::oven>({.loaves = 50}).named("large");
  app.add<bakery::oven>();
  app.add<bakery::oven>();
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(app.run(), 0);
  out = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(out.contains("[small]\nloaves = 5 ")) << out;
  EXPECT_TRUE(out.contains("[large]\nloaves = 900 ")) << out;
  EXPECT_TRUE(out.contains("[bakery.oven]\n")) << out;
  EXPECT_TRUE(out.contains("[bakery.oven_2]\n")) << out;
}

TEST_F(application_config, explains_assignments_that_are_none) {
  EXPECT_EQ(run({"--bakery.oven.loaves"}), 2);
  EXPECT_TRUE(
      err.starts_with("bakery: --bakery.oven.loaves has no value: write "
                      "--bakery.oven.loaves=VALUE\n"))
      << err;
  EXPECT_EQ(run({"--set", "loaves"}), 2);
  EXPECT_TRUE(err.contains("'loaves' is no SECTION.KEY=VALUE")) << err;
  EXPECT_EQ(run({"--help"}), 0);
  for (const char* const part : {"--config", "--set", "SECTION.KEY=VALUE", "--print-config"})
    EXPECT_TRUE(out.contains(part)) << part;
}

}  // namespace

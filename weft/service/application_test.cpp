#include <weft/service/application.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/on.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/no_frames_test.hpp>
#include <weft/telemetry/registry.hpp>
#include <weft/testing/allocation_failure.hpp>

namespace {

/// What was logged while it lives, from whichever thread.
class log_of_all_threads {
 public:
  log_of_all_threads() { weft::log::set_sink(&on_message, this); }
  log_of_all_threads(const log_of_all_threads&) = delete;
  log_of_all_threads& operator=(const log_of_all_threads&) = delete;
  ~log_of_all_threads() { weft::log::set_sink(nullptr, nullptr); }

  std::size_t count(std::string_view part) {
    const std::lock_guard lock{mutex_};
    return static_cast<std::size_t>(std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.contains(part); }));
  }

 private:
  static void on_message(weft::log::level, std::string_view text, void* context) {
    auto& self = *static_cast<log_of_all_threads*>(context);
    const std::lock_guard lock{self.mutex_};
    self.lines_.emplace_back(text);
  }
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

std::atomic<int> made;
std::atomic<int> stopped;
std::mutex threads_mutex;
std::set<std::thread::id> threads;

struct counted {
  explicit counted(weft::event_loop& loop) : loop_{loop} {
    ++made;
    const std::lock_guard lock{threads_mutex};
    threads.insert(std::this_thread::get_id());
  }
  void stop() { stopped += &loop_ == &weft::event_loop::current() ? 1 : 0; }
  weft::event_loop& loop_;
};

struct refusing {
  weft::result<void> start() { return weft::fail(weft::errc::unavailable); }
};

struct throwing {
  explicit throwing(counted&) { throw std::runtime_error{"no luck"}; }
};

std::atomic<bool> all_are_up;

/// Whose first instance has a task that throws once the whole program runs.
struct fragile {
  fragile(counted&, weft::event_loop& loop) {
    if (made == 1) loop.spawn(break_down(loop));
  }
  static weft::task<void> break_down(weft::event_loop& loop) {
    while (!all_are_up) co_await weft::yield{loop};
    throw std::runtime_error{"broken"};
  }
};

class application_run : public ::testing::Test {
 protected:
  application_run() {
    made = stopped = 0;
    threads.clear();
  }

  int run(weft::application& app) {
    app.on_ready([&app, this] {
      was_ready = true;
      app.request_stop();
    });
    return app.run();
  }

  log_of_all_threads log;
  bool was_ready = false;
  std::string name = "program";
  std::string option = "--threads=3";
  std::vector<char*> arguments{name.data(), option.data()};
};

TEST_F(application_run, makes_one_of_each_service_on_each_shards_own_thread) {
  weft::application app{2, arguments.data()};
  app.add<counted>();
  EXPECT_EQ(run(app), 0);
  EXPECT_TRUE(was_ready);
  EXPECT_EQ(made, 3);
  EXPECT_EQ(stopped, 3);
  EXPECT_EQ(threads.size(), 3U);
  EXPECT_EQ(log.count("ready, 3 shards"), 1U);
}

/// Counts, from each shard, all the shards there are.
struct census {
  explicit census(weft::event_loop& loop) : loop_{loop} {}
  weft::task<weft::result<void>> start() {
    for (unsigned shard = 0; shard <= loop_.shard(); ++shard) {
      const auto answer =
          co_await weft::on(shard, [] { return weft::event_loop::current().shard(); });
      if (!answer) co_return weft::fail(answer.error());
      EXPECT_EQ(*answer, shard);
      ++answers;
    }
    co_return weft::result<void>{};
  }
  static inline std::atomic<int> answers;
  weft::event_loop& loop_;
};

/// Counts itself on its shard, and reads what all have counted once all are up.
struct counting {
  counting(weft::telemetry::meter& meter, weft::telemetry::registry& metrics,
           weft::event_loop& loop)
      : metrics_{metrics}, loop_{loop} {
    meter.counter("counting_made_total", "Made").add();
  }
  void stop() {
    if (loop_.shard() == 0) seen = metrics_.read();
  }
  weft::telemetry::registry& metrics_;
  weft::event_loop& loop_;
  inline static weft::telemetry::snapshot seen;
};

TEST_F(application_run, gives_services_what_counts_and_counts_its_loops) {
  weft::application app{2, arguments.data()};
  app.add<counting>();
  EXPECT_EQ(run(app), 0);
  const auto* const made_on = counting::seen.find("counting_made_total");
  ASSERT_NE(made_on, nullptr);
  EXPECT_EQ(made_on->by_shard, (std::vector<std::int64_t>{1, 1, 1}));
  const auto* const turns = counting::seen.find("loop_turns_total");
  ASSERT_NE(turns, nullptr);
  EXPECT_EQ(turns->by_shard.size(), 3U);
  EXPECT_GT(turns->value, 0);
}

TEST_F(application_run, services_may_call_other_shards) {
  census::answers = 0;
  weft::application app{2, arguments.data()};
  app.add<census>();
  EXPECT_EQ(run(app), 0);
  EXPECT_EQ(census::answers, 1 + 2 + 3);
}

struct waits_for_a_shard_that_never_is {
  waits_for_a_shard_that_never_is(counted&, weft::event_loop& loop) { loop.spawn(call()); }
  static weft::task<void> call() {
    const auto answer = co_await weft::on(1, [] {});
    EXPECT_EQ(answer.error(), weft::errc::closed);
  }
};

TEST_F(application_run, shards_that_are_never_begun_are_not_waited_for) {
  weft::application app{2, arguments.data()};
  app.add<waits_for_a_shard_that_never_is>();
  app.add<counted>();
  app.add<refusing>();
  EXPECT_EQ(run(app), 1);
}

TEST_F(application_run, has_one_shard_unless_told_otherwise) {
  weft::application app{1, arguments.data()};
  app.add<counted>();
  EXPECT_EQ(run(app), 0);
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
}

TEST_F(application_run, ends_with_one_error_when_a_service_does_not_start) {
  weft::application app{2, arguments.data()};
  app.add<counted>();
  app.add<refusing>();
  EXPECT_EQ(run(app), 1);
  EXPECT_FALSE(was_ready);
  EXPECT_EQ(log.count("did not start"), 1U) << "the first shard goes ahead";
  EXPECT_EQ(stopped, made) << "what had started is stopped";
}

TEST_F(application_run, ends_with_the_path_of_a_service_that_cannot_be_made) {
  weft::application app{2, arguments.data()};
  app.add<counted>();
  app.add<throwing>();
  EXPECT_EQ(run(app), 1);
  EXPECT_EQ(log.count("throwing cannot be made: no luck"), 1U);
}

TEST_F(application_run, ends_whole_when_a_task_of_one_shard_throws) {
  all_are_up = false;
  weft::application app{2, arguments.data()};
  app.add<counted>();
  app.add<fragile>();
  app.on_ready([] { all_are_up = true; });
  EXPECT_EQ(app.run(), 1);
  EXPECT_EQ(stopped, 3);
  EXPECT_EQ(log.count("a task of this shard threw: broken"), 1U);
}

/// Stops by a coroutine, for whose frame there is no memory at first.
struct stopped_late {
  explicit stopped_late(weft::event_loop& loop) : loop_{loop} {}
  weft::task<weft::result<void>> stop() {
    static_cast<void>(co_await weft::sleep_for(loop_, std::chrono::milliseconds{1}));
    ++stopped;
    co_return weft::result<void>{};
  }
  weft::event_loop& loop_;
};
/// Asked just before the services stop.
struct without_frames {
  [[nodiscard]] std::size_t connections() const {
    none.emplace(16, 4096);
    return 0;
  }
  mutable std::optional<weft::net::no_frames> none;
};

TEST_F(application_run, stops_its_services_when_there_is_memory_again) {
  if (!weft::testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  option = "--threads=1";
  arguments[1] = option.data();
  weft::application app{2, arguments.data()};
  app.add<stopped_late>();
  app.add<without_frames>();
  EXPECT_EQ(run(app), 1) << "that is not how a program should end";
  EXPECT_EQ(log.count("out of memory: the services cannot be stopped yet, trying again"), 1U);
  EXPECT_EQ(stopped, 1);
}

TEST_F(application_run, leaves_out_what_the_options_do_not_want) {
  for (const bool is_wanted : {true, false}) {
    made = 0;
    weft::application app{2, arguments.data()};
    bool is_checked = false;
    app.check_options([&] {
      is_checked = true;
      return std::vector<std::string>{};
    });
    app.add<counted>().when([&] { return is_checked && is_wanted; });
    EXPECT_EQ(run(app), 0);
    EXPECT_EQ(made, is_wanted ? 3 : 0);
  }
}

TEST_F(application_run, names_what_nobody_provides) {
  weft::application app{1, arguments.data()};
  app.add<throwing>();
  EXPECT_EQ(run(app), 1);
  EXPECT_EQ(log.count("counted, which nobody provides"), 1U);
}

TEST_F(application_run, stops_at_once_when_it_was_asked_to_before) {
  weft::application app{2, arguments.data()};
  app.add<counted>();
  app.request_stop();
  EXPECT_EQ(app.run(), 0);
  EXPECT_EQ(stopped, made);
}

struct slow_to_stop {
  explicit slow_to_stop(weft::event_loop& loop) : loop_{loop} {}
  weft::task<weft::result<void>> stop() {
    co_return co_await weft::sleep_for(loop_, std::chrono::milliseconds{2});
  }
  weft::event_loop& loop_;
};

TEST_F(application_run, may_take_for_ever_to_stop) {
  weft::application app{
      1,
      arguments.data(),
      {.stop_timeout = weft::duration::max(), .end_timeout = weft::duration::max()}};
  app.add<slow_to_stop>();
  EXPECT_EQ(run(app), 0);
  EXPECT_EQ(log.count("did not stop cleanly"), 0U);
}

TEST_F(application_run, ends_on_a_signal) {
  for (const int number : {SIGINT, SIGTERM}) {
    weft::application app{2, arguments.data()};
    app.add<counted>();
    app.on_ready([number] { ::kill(::getpid(), number); });
    EXPECT_EQ(app.run(), 0);
  }
  EXPECT_EQ(log.count("SIGINT: stopping"), 1U);
  EXPECT_EQ(log.count("SIGTERM: stopping"), 1U);
}

/// Hears of one hangup on each shard, and finds nothing good; the last has the program end.
struct rereading {
  weft::result<void> reload() {
    if (--left == 0) ::kill(::getpid(), SIGTERM);
    return weft::fail(weft::errc::not_found);
  }
  static inline std::atomic<int> left = 0;
};

TEST_F(application_run, has_services_reload_on_a_hangup_and_goes_on) {
  rereading::left = 3;
  weft::application app{2, arguments.data()};
  app.add<rereading>();
  app.add<counted>();
  app.on_ready([] { ::kill(::getpid(), SIGHUP); });
  EXPECT_EQ(app.run(), 0);
  EXPECT_EQ(log.count("SIGHUP: services read their files again"), 1U);
  EXPECT_EQ(log.count("rereading goes on as before: not found"), 3U);
  EXPECT_EQ(log.count("SIGTERM: stopping"), 1U);
}

TEST_F(application_run, refuses_a_wrong_command_line_before_anything_is_made) {
  option = "--threads=5000";
  arguments[1] = option.data();
  weft::application app{2, arguments.data()};
  app.add<counted>();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(app.run(), 2);
  EXPECT_TRUE(::testing::internal::GetCapturedStderr().contains("from 0 to 1024"));
  EXPECT_EQ(made, 0);
}

TEST_F(application_run, refuses_a_way_to_be_idle_that_it_does_not_know) {
  option = "--idle=spin=5";
  arguments[1] = option.data();
  weft::application app{2, arguments.data()};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(app.run(), 2);
  const std::string refusal = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(refusal.contains("--idle: 'spin=5' lacks a unit")) << refusal;
}

TEST_F(application_run, warns_when_more_shards_poll_than_there_are_cpus) {
  for (const std::string idle : {"--idle=sleep", "--idle=spin=50us"}) {
    option = idle;
    arguments[1] = option.data();
    weft::application app{
        2, arguments.data(), {.threads = std::thread::hardware_concurrency() + 1}};
    EXPECT_EQ(run(app), 0);
    EXPECT_EQ(log.count("shards poll on"), idle == "--idle=sleep" ? 0U : 1U);
  }
}

}  // namespace

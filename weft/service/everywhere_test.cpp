#include <weft/service/everywhere.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/application.hpp>

namespace harbour {

using weft::result;
using weft::task;

constexpr int shards = 3;

struct ship {
  virtual ~ship() = default;
};
struct light_options {
  std::string colour = "white";
};
struct light {
  using options = light_options;
  explicit light(light_options given) : colour{std::move(given.colour)} {}
  void start() { ++started; }
  void stop() { ++stopped; }
  std::string colour;
  static inline std::atomic<int> started = 0;
  static inline std::atomic<int> stopped = 0;
};
// Is one in all.
struct bell {
  void start() { ++started; }
  static inline std::atomic<int> started = 0;
};
struct boat_options {
  int number = 0;
};
struct boat : ship {
  using options = boat_options;
  boat(boat_options given, weft::event_loop& loop) : shard{loop.shard()}, number{given.number} {}
  result<void> start() {
    if (number == 13 && shard == 2) return weft::fail(weft::errc::refused);
    afloat += number;
    return {};
  }
  void stop() { afloat -= number; }
  unsigned shard;
  int number;
  static inline std::atomic<int> afloat = 0;
};

using script = std::function<task<void>(weft::everywhere&, weft::lifetime&)>;
// One service of each shard asks; the one of shard 1 once all have started.
struct master_options {
  std::shared_ptr<std::atomic<bool>> all_up;
  script does;
  weft::application* program = nullptr;
};
struct master {
  using options = master_options;
  master(master_options given, weft::everywhere& all, weft::event_loop& on, weft::lifetime& own)
      : what{std::move(given)}, shards_of_all{all}, loop{on} {
    if (loop.shard() == 1) own.spawn(work(own));
  }
  task<void> work(weft::lifetime& own) {
    while (!*what.all_up)
      if (!co_await weft::sleep_for(loop, std::chrono::milliseconds{1})) co_return;
    co_await what.does(shards_of_all, own);
    what.program->request_stop();
  }
  master_options what;
  weft::everywhere& shards_of_all;
  weft::event_loop& loop;
};

}  // namespace harbour

namespace {

using harbour::boat;
using harbour::light;
using weft::errc;
using weft::everywhere;
using weft::lifetime;
using weft::task;

class everywhere_in_an_application : public ::testing::Test {
 protected:
  everywhere_in_an_application() {
    light::started = light::stopped = harbour::bell::started = boat::afloat = 0;
    weft::log::set_sink([](weft::log::level, std::string_view, void*) {}, nullptr);
  }
  ~everywhere_in_an_application() override { weft::log::set_sink(nullptr, nullptr); }

  void run(harbour::script does) {
    app_.add<light>();
    app_.add<harbour::bell>().single();
    app_.add<harbour::master>({.all_up = all_up_, .does = std::move(does), .program = &app_});
    app_.on_ready([this] { *all_up_ = true; });
    EXPECT_EQ(app_.run(), 0);
  }

  std::string name_ = "harbour";
  std::string threads_ = "--threads=3";
  std::array<char*, 3> values_{name_.data(), threads_.data(), nullptr};
  weft::application app_{2, values_.data()};
  std::shared_ptr<std::atomic<bool>> all_up_ = std::make_shared<std::atomic<bool>>(false);
};

TEST_F(everywhere_in_an_application, changes_the_services_of_all_shards) {
  run([](everywhere& all, lifetime&) -> task<void> {
    EXPECT_EQ(light::started, harbour::shards);
    EXPECT_TRUE(co_await all.restart<light>());
    EXPECT_EQ(light::started, 2 * harbour::shards);
    EXPECT_EQ(light::stopped, harbour::shards);
    EXPECT_TRUE(co_await all.stop<light>());
    EXPECT_EQ(light::stopped, 2 * harbour::shards);
    EXPECT_TRUE(co_await all.start<light>());
    EXPECT_TRUE(co_await all.remove<light>());
    EXPECT_EQ(light::stopped, 3 * harbour::shards);
    EXPECT_EQ((co_await all.start<light>()).error(), errc::not_found);
  });
}

TEST_F(everywhere_in_an_application, adds_services_to_all_shards) {
  run([](everywhere& all, lifetime&) -> task<void> {
    EXPECT_TRUE(co_await all.add<boat>(
        {.number = 10}, [](auto& added) { added.template as<harbour::ship>().named("ten"); }));
    EXPECT_TRUE(
        co_await all.add<boat>({.number = 100}, [](auto& added) { added.named("hundred"); }));
    EXPECT_EQ(boat::afloat, 0);
    EXPECT_TRUE(co_await all.start<harbour::ship>("ten"));
    EXPECT_EQ(boat::afloat, 30);
    EXPECT_TRUE(co_await all.start<boat>("hundred"));
    EXPECT_EQ(boat::afloat, 330);
    EXPECT_TRUE(co_await all.remove<harbour::ship>());
    EXPECT_EQ(boat::afloat, 300);
  });
}

TEST_F(everywhere_in_an_application, finds_what_there_is_on_one_shard_alone) {
  run([](everywhere& all, lifetime&) -> task<void> {
    EXPECT_TRUE(co_await all.restart<harbour::bell>());
    EXPECT_EQ(harbour::bell::started, 2);
  });
}

TEST_F(everywhere_in_an_application, says_where_one_has_failed_and_leaves_the_others) {
  run([](everywhere& all, lifetime&) -> task<void> {
    EXPECT_TRUE(co_await all.add<boat>({.number = 13}));
    EXPECT_EQ((co_await all.start<boat>()).error(), errc::refused);
    EXPECT_EQ(boat::afloat, 26);
  });
}

TEST_F(everywhere_in_an_application, refuses_who_would_wait_for_itself_before_others_begin) {
  run([](everywhere& all, lifetime&) -> task<void> {
    EXPECT_EQ((co_await all.restart<harbour::master>()).error(), errc::invalid_argument);
    EXPECT_EQ((co_await all.stop<everywhere>()).error(), errc::invalid_argument)
        << "who asks needs it";
  });
}

TEST_F(everywhere_in_an_application, keeps_the_deadline_of_who_asks) {
  run([](everywhere& all, lifetime&) -> task<void> {
    const auto late = co_await weft::with_timeout(weft::duration{0}, all.restart<light>());
    EXPECT_EQ(late.error_or(errc::closed), errc::timed_out);
    EXPECT_EQ(light::started, harbour::shards);
  });
}

}  // namespace

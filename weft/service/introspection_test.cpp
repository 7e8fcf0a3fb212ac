#include <weft/service/introspection.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include <weft/loop/sleep.hpp>
#include <weft/service/application.hpp>
#include <weft/service/event_bus.hpp>

namespace school {

using namespace std::chrono_literals;

struct bell_rung {};

struct teacher {
  teacher(weft::event_loop& loop, weft::event_bus& events, weft::lifetime& own) {
    events.on<bell_rung>([](const bell_rung&) {});
    static_cast<void>(events.publish(bell_rung{}));
    for (int i = 0; i < 3; ++i) own.spawn(wait(loop));
  }
  static weft::task<void> wait(weft::event_loop& loop) {
    while (co_await weft::sleep_for(loop, 1h)) {}
  }
};

/// Asks once all shards are up, and ends the program.
struct inspector {
  inspector(weft::introspection& of, weft::event_loop& on, weft::lifetime& own)
      : program{of}, loop{on}, life{own} {}
  void start() {
    if (loop.shard() == 0) life.spawn(inspect());
  }
  weft::task<void> inspect();

  weft::introspection& program;
  weft::event_loop& loop;
  weft::lifetime& life;
};

weft::result<weft::application_description> seen = weft::fail(weft::errc::not_found);
weft::application* school_app = nullptr;

weft::task<void> inspector::inspect() {
  do {
    std::ignore = co_await weft::sleep_for(loop, 1ms);
    seen = co_await program.everywhere();
  } while (seen && seen->shards.size() < 2);
  school_app->request_stop();
}

}  // namespace school

namespace weft {
namespace {

TEST(introspection, shows_all_shards_from_one) {
  std::string name = "school";
  std::string threads = "--threads=2";
  char* arguments[] = {name.data(), threads.data(), nullptr};
  application app{2, arguments};
  school::school_app = &app;
  app.add<event_bus>();
  app.add<introspection>();
  app.add<school::teacher>();
  app.add<school::inspector>();
  ASSERT_EQ(app.run(), 0);

  ASSERT_TRUE(school::seen) << school::seen.error().message();
  ASSERT_EQ(school::seen->shards.size(), 2U);
  for (unsigned shard = 0; shard < 2; ++shard) {
    const shard_description& told = school::seen->shards[shard];
    EXPECT_EQ(told.shard, shard);
    const auto teacher =
        std::ranges::find(told.services, "school::teacher", &service_description::type);
    ASSERT_NE(teacher, told.services.end());
    ASSERT_TRUE(told.loop);
    EXPECT_GE(told.loop->timers, 3U);
    EXPECT_GT(told.loop->gauges.turns, 0U);
    const auto waiting = std::ranges::find_if(told.tasks, [](const task_description& each) {
      return std::ranges::any_of(each.waits_in, [](const std::string& place) {
        return place.contains("wait") && place.contains("introspection_test.cpp");
      });
    });
    ASSERT_NE(waiting, told.tasks.end());
    EXPECT_EQ(waiting->count, 3U);
    ASSERT_TRUE(told.events);
    ASSERT_EQ(told.events->types.size(), 1U);
    EXPECT_EQ(told.events->types[0].type, "school::bell_rung");
    EXPECT_EQ(told.events->types[0].published, 1U);
  }
  EXPECT_TRUE(to_json(*school::seen).contains(R"("type":"school::bell_rung","published":1)"));
}

}  // namespace
}  // namespace weft

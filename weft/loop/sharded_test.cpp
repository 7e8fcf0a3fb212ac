#include <weft/loop/sharded.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include <weft/loop/shards_fixture_test.hpp>

namespace weft {
namespace {

class sharded_test : public on_shards {};
INSTANTIATE_TEST_SUITE_P(backends, sharded_test, threaded_backends, shards_backend_name);

unsigned own_shard() { return event_loop::current().shard(); }

/// Knows where it was made, and counts those destroyed there.
class resident {
 public:
  explicit resident(std::atomic<int>& ended_at_home) : ended_at_home_{&ended_at_home} {}
  resident(resident&& other) noexcept
      : home{other.home}, ended_at_home_{std::exchange(other.ended_at_home_, nullptr)} {}
  ~resident() {
    if (ended_at_home_ != nullptr && home == own_shard()) ++*ended_at_home_;
  }
  unsigned home = own_shard();
  int calls = 0;

 private:
  std::atomic<int>* ended_at_home_;
};

TEST_P(sharded_test, lives_on_each_shard_and_ends_there) {
  std::atomic<int> ended_at_home{0};
  run(3, [&](event_loop&) -> task<void> {
    sharded<resident> all;
    EXPECT_TRUE(co_await all.start([&](unsigned) { return resident{ended_at_home}; }));
    EXPECT_EQ(all.local().home, 0U);
    for (unsigned shard = 0; shard < 3; ++shard)
      EXPECT_EQ(*co_await all.on(shard, [](resident& r) { return r.home; }), shard);
    co_await all.stop();
    EXPECT_EQ(ended_at_home, 3);
  });
}

TEST_P(sharded_test, broadcast_and_map_reach_all_in_order) {
  std::atomic<int> unused{0};
  run(4, [&](event_loop&) -> task<void> {
    sharded<resident> all;
    EXPECT_TRUE(co_await all.start([&](unsigned) { return resident{unused}; }));
    EXPECT_TRUE(co_await all.broadcast([](resident& r) { ++r.calls; }));
    EXPECT_TRUE(co_await all.broadcast([](resident& r) -> task<void> {
      co_await yield{event_loop::current()};
      r.calls += static_cast<int>(r.home) * 10;
    }));
    const auto calls = co_await all.map([](resident& r) { return r.calls; });
    EXPECT_EQ(*calls, (std::vector{1, 11, 21, 31}));
    const auto homes = co_await all.map([](resident& r) -> task<result<unsigned>> {
      co_return co_await on(0, [&r] { return r.home; });
    });
    EXPECT_EQ(*homes, (std::vector{0U, 1U, 2U, 3U}));
    const auto refused = co_await all.map([](resident& r) -> result<int> {
      if (r.home == 2) return fail(errc::refused);
      return 1;
    });
    EXPECT_EQ(refused.error(), errc::refused);
    co_await all.stop();
  });
}

TEST_P(sharded_test, a_failed_start_leaves_nothing_behind) {
  std::atomic<int> ended_at_home{0};
  run(3, [&](event_loop&) -> task<void> {
    sharded<resident> all;
    bool caught = false;
    try {
      static_cast<void>(co_await all.start([&](unsigned shard) -> resident {
        if (shard == 1) throw std::runtime_error{"not here"};
        return resident{ended_at_home};
      }));
    } catch (const std::runtime_error&) {
      caught = true;
    }
    EXPECT_TRUE(caught);
    EXPECT_LE(ended_at_home, 2);
    EXPECT_TRUE(co_await all.start([&](unsigned) { return resident{ended_at_home}; }))
        << "and may be tried again";
    co_await all.stop();
  });
}

TEST_P(sharded_test, a_call_that_cannot_be_made_for_one_shard_is_made_for_none) {
  struct copied_once {
    explicit copied_once(int& called) : calls{&called} {}
    copied_once(const copied_once& other) : calls{other.calls}, copies{other.copies + 1} {
      if (++other.copies > 1) throw std::runtime_error{"no more"};
    }
    copied_once(copied_once&&) noexcept = default;
    void operator()() { ++*calls; }
    int* calls;
    mutable int copies = 0;
  };
  run(3, [](event_loop&) -> task<void> {
    int calls = 0;
    bool caught = false;
    try {
      std::ignore = co_await on_all(copied_once{calls});
    } catch (const std::runtime_error&) {
      caught = true;
    }
    EXPECT_TRUE(caught);
    EXPECT_EQ(calls, 0);
  });
}

TEST_P(sharded_test, what_lived_on_a_shard_that_has_ended_ends_all_the_same) {
  std::weak_ptr<int> watched;
  run(2, [&](event_loop& loop) -> task<void> {
    const auto shared = std::make_shared<int>(1);
    watched = shared;
    sharded<std::shared_ptr<int>> all;
    EXPECT_TRUE(co_await all.start([copy = shared](unsigned) { return copy; }));
    shards_->request_stop(1);
    while (!shards_->has_ended(1)) co_await yield{loop};
    EXPECT_EQ((co_await all.broadcast([](std::shared_ptr<int>&) {})).error(), errc::closed);
    co_await all.stop();
    EXPECT_EQ(shared.use_count(), 1);
  });
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace weft

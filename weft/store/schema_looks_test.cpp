// One look for all who wait, which begins after they came; a pause between two; and it goes on
// where those who asked go away.
#include <weft/store/schema_looks.hpp>

#include <chrono>
#include <optional>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/coro/with_deadline.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/telemetry/registry.hpp>

namespace weft::store {
namespace {

using std::chrono::milliseconds;

class schema_looks_test : public in_memory {
 protected:
  /// A look that takes `length_`, and gives `outcome_`.
  task<result<void>> look() {
    ++begun_;
    EXPECT_FALSE(is_looking_) << "one at a time";
    is_looking_ = true;
    EXPECT_TRUE(co_await sleep_for(*loop_, length_));
    is_looking_ = false;
    co_return outcome_;
  }

  /// Asks after `begin`, for `patience` at most.
  task<void> ask(schema_looks& looks, duration begin, duration patience = std::chrono::hours{1}) {
    EXPECT_TRUE(co_await sleep_for(*loop_, begin));
    const int before = begun_;
    const auto looked = co_await with_timeout(patience, looks.after_miss());
    ++ended_;
    if (!looked) {
      failed_ = looked.error();
      co_return;
    }
    EXPECT_GT(begun_, before) << "by a look that begins after the call";
    EXPECT_FALSE(is_looking_);
  }

  /// Runs all until they have ended.
  template <class... Task>
  void run(lifetime& own, Task... tasks) {
    (loop_->spawn(std::move(tasks)), ...);
    loop_->spawn(end_when(own, static_cast<int>(sizeof...(tasks))));
    loop_->run();
  }
  task<void> end_when(lifetime& own, int ended) {
    while (ended_ < ended || is_looking_) EXPECT_TRUE(co_await sleep_for(*loop_, milliseconds{10}));
    own.request_end();
    co_await own.ended();
  }

  static constexpr std::string_view name = "engine";
  telemetry::registry metrics_;
  telemetry::counter counted_ = metrics_.shard(0).counter("looks", "Looks");
  duration length_ = milliseconds{2};
  result<void> outcome_;
  int begun_ = 0;
  int ended_ = 0;
  bool is_looking_ = false;
  std::optional<error> failed_;
};

TEST_F(schema_looks_test, are_shared_by_all_who_came_before_they_began) {
  lifetime own{name};
  schema_looks looks{*loop_, own, [this] { return look(); }, counted_};
  run(own, ask(looks, {}), ask(looks, {}), ask(looks, milliseconds{1}), ask(looks, milliseconds{3}),
      ask(looks, milliseconds{20}));
  EXPECT_EQ(begun_, 2) << "the first for one or two, the second for all who came meanwhile";
  EXPECT_EQ(counted_.value(), 2U);
  EXPECT_FALSE(failed_);
}

TEST_F(schema_looks_test, keep_a_pause_between_them) {
  lifetime own{name};
  length_ = {};
  schema_looks looks{*loop_, own, [this] { return look(); }, counted_};
  const time_point began = loop_->now();
  run(own, ask(looks, {}), ask(looks, milliseconds{1}), ask(looks, milliseconds{11}),
      ask(looks, milliseconds{21}));
  EXPECT_EQ(begun_, 4);
  EXPECT_GE(loop_->now() - began, milliseconds{30});
}

TEST_F(schema_looks_test, take_a_tenth_of_the_time) {
  lifetime own{name};
  length_ = milliseconds{50};
  schema_looks looks{*loop_, own, [this] { return look(); }, counted_};
  const time_point began = loop_->now();
  run(own, ask(looks, {}), ask(looks, milliseconds{60}));
  EXPECT_EQ(begun_, 2);
  EXPECT_GE(loop_->now() - began, milliseconds{50 + 500 + 50});
}

TEST_F(schema_looks_test, go_on_where_who_asked_goes_away) {
  lifetime own{name};
  length_ = milliseconds{50};
  schema_looks looks{*loop_, own, [this] { return look(); }, counted_};
  run(own, ask(looks, {}, milliseconds{5}));
  EXPECT_EQ(failed_, errc::timed_out);
  EXPECT_EQ(begun_, 1);
}

TEST_F(schema_looks_test, tell_why_they_failed) {
  lifetime own{name};
  outcome_ = fail(errc::unavailable);
  schema_looks looks{*loop_, own, [this] { return look(); }, counted_};
  run(own, ask(looks, {}), ask(looks, {}));
  EXPECT_EQ(failed_, errc::unavailable);
  EXPECT_EQ(begun_, 1);
}

}  // namespace
}  // namespace weft::store

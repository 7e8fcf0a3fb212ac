#include <weft/coro/stop_token.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

namespace weft {
namespace {

TEST(stop_token, a_default_one_is_never_stopped) {
  const stop_token none;
  EXPECT_FALSE(none.stop_possible());
  EXPECT_FALSE(none.stop_requested());
  int calls = 0;
  {
    const stop_callback never{none, [&] { ++calls; }};
  }
  EXPECT_EQ(calls, 0);
}

TEST(stop_token, callbacks_run_once_in_order_of_registration) {
  stop_source source;
  std::vector<int> order;
  const stop_callback first{source.token(), [&] { order.push_back(1); }};
  const stop_callback second{source.token(), [&] { order.push_back(2); }};
  const stop_callback third{source.token(), [&] { order.push_back(3); }};
  EXPECT_TRUE(source.token().stop_possible());
  EXPECT_FALSE(source.token().stop_requested());
  EXPECT_TRUE(order.empty());

  EXPECT_TRUE(source.request_stop());
  EXPECT_TRUE(source.stop_requested());
  EXPECT_TRUE(source.token().stop_requested());
  EXPECT_FALSE(source.request_stop());
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(stop_token, a_callback_sees_that_stop_is_requested) {
  stop_source source;
  bool seen = false;
  const stop_callback look{source.token(), [&] { seen = source.stop_requested(); }};
  source.request_stop();
  EXPECT_TRUE(seen);
}

TEST(stop_token, a_late_callback_runs_at_once) {
  stop_source source;
  source.request_stop();
  int calls = 0;
  const stop_callback late{source.token(), [&] { ++calls; }};
  EXPECT_EQ(calls, 1);
}

TEST(stop_token, an_ended_registration_is_not_called) {
  stop_source source;
  int calls = 0;
  {
    const stop_callback gone{source.token(), [&] { ++calls; }};
  }
  source.request_stop();
  EXPECT_EQ(calls, 0);
}

TEST(stop_token, callbacks_may_register_and_end_callbacks) {
  stop_source source;
  std::vector<int> order;
  const auto note = [&](int what) { return [&order, what] { order.push_back(what); }; };
  using noting = decltype(note(0));
  std::optional<stop_callback<noting>> doomed;
  std::optional<stop_callback<noting>> born;
  const stop_callback acting{source.token(), [&] {
                               order.push_back(1);
                               doomed.reset();
                               born.emplace(source.token(), note(2));
                             }};
  doomed.emplace(source.token(), note(-1));
  const stop_callback last{source.token(), note(3)};
  source.request_stop();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(stop_token, a_callback_may_end_itself) {
  stop_source source;
  struct self_ending {
    std::unique_ptr<stop_callback<self_ending>>* self;
    int* calls;
    void operator()() const {
      ++*calls;
      self->reset();
    }
  };
  int calls = 0;
  std::unique_ptr<stop_callback<self_ending>> callback;
  callback =
      std::make_unique<stop_callback<self_ending>>(source.token(), self_ending{&callback, &calls});
  source.request_stop();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(callback, nullptr);
}

TEST(stop_token, a_source_stops_with_its_parent_but_not_the_other_way) {
  stop_source parent;
  stop_source child{parent.token()};
  stop_source grandchild{child.token()};
  stop_source sibling{parent.token()};
  child.request_stop();
  EXPECT_FALSE(parent.stop_requested());
  EXPECT_FALSE(sibling.stop_requested());
  EXPECT_TRUE(grandchild.stop_requested());

  EXPECT_TRUE(parent.request_stop());
  EXPECT_TRUE(sibling.stop_requested());
  EXPECT_FALSE(sibling.request_stop());
}

TEST(stop_token, a_source_of_a_stopped_parent_is_born_stopped) {
  stop_source parent;
  parent.request_stop();
  stop_source child{parent.token()};
  EXPECT_TRUE(child.stop_requested());
}

TEST(stop_token, a_source_that_ends_before_its_parent_leaves_no_trace) {
  stop_source parent;
  int calls = 0;
  {
    stop_source child{parent.token()};
    const stop_callback on_stop{child.token(), [&] { ++calls; }};
  }
  parent.request_stop();
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace weft

// What is told, in which order, and within which bounds.
#include <weft/service/event_bus.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include <weft/service/event_fixture_test.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

using event_bus_test = event_fixture;

struct named {
  std::string name;
};
struct owning {
  std::unique_ptr<int> value;
};
struct large {
  std::array<int, 1000> numbers{};
};
struct alignas(64) aligned {
  int number = 0;
};

TEST_F(event_bus_test, a_struct_is_told_to_who_listens) {
  const auto heard = note_numbers();
  EXPECT_TRUE(events().publish(numbered{7}));
  EXPECT_TRUE(seen_.empty()) << "from the loop, never from inside publish()";
  EXPECT_EQ(events().queued(), 1U);
  settle();
  EXPECT_EQ(seen_, std::vector{7});
  EXPECT_EQ(events().queued(), 0U);
}

TEST_F(event_bus_test, types_are_told_apart_though_their_names_are_equal) {
  const auto make = [] {
    struct local {
      int value;
    };
    return local{1};
  };
  const auto other = [] {
    struct local {
      int value;
    };
    return local{2};
  };
  int first = 0;
  int second = 0;
  const auto one = events().on<decltype(make())>([&](const auto& e) { first += e.value; });
  const auto two = events().on<decltype(other())>([&](const auto& e) { second += e.value; });
  events().publish(make());
  events().publish(other());
  settle();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

TEST_F(event_bus_test, the_most_urgent_band_first_and_in_order_within) {
  const auto heard = note_numbers();
  for (int i = 0; i < 3; ++i) {
    events().publish(numbered{50 + i}, priority::idle);
    events().publish(numbered{40 + i}, priority::low);
    events().publish(numbered{30 + i});
    events().publish(numbered{20 + i}, priority::high);
    events().publish(numbered{10 - i}, deadline::at(loop_->now() + 1h - i * 1s));
    events().publish(numbered{i}, priority::critical);
  }
  settle();
  EXPECT_EQ(seen_,
            (std::vector{0, 1, 2, 8, 9, 10, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52}));
}

TEST_F(event_bus_test, what_is_more_urgent_overtakes_what_waits) {
  const auto heard = note_numbers();
  const auto reacts = events().on<numbered>([&](const numbered& e) {
    if (e.number == 1) events().publish(numbered{-1}, priority::critical);
    if (e.number == 2) events().publish(numbered{-2}, deadline::at(loop_->now()));
  });
  for (int i = 0; i < 4; ++i) events().publish(numbered{i}, priority::low);
  settle();
  EXPECT_EQ(seen_, (std::vector{0, 1, -1, 2, -2, 3}));
}

TEST_F(event_bus_test, events_of_all_shapes_arrive_whole_and_end_once) {
  std::vector<std::string> names;
  int sum = 0;
  const auto a = events().on<named>([&](const named& e) { names.push_back(e.name); });
  const auto b = events().on<owning>([&](const owning& e) { sum += *e.value; });
  const auto c = events().on<large>([&](const large& e) { sum += e.numbers[999]; });
  const auto d = events().on<aligned>([&](const aligned& e) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&e) % 64, 0U);
    sum += e.number;
  });
  const named kept{"a name that is too long for a short string"};
  large big;
  big.numbers[999] = 100;
  for (int i = 0; i < 100; ++i) {
    events().publish(kept);
    events().publish(owning{std::make_unique<int>(1)}, deadline::at(loop_->now() + 1s));
    events().publish(big);
    events().publish(aligned{10'000}, i % 2 == 0 ? priority::high : priority::low);
  }
  settle();
  EXPECT_EQ(names, std::vector<std::string>(100, kept.name));
  EXPECT_EQ(sum, 100 * (1 + 100 + 10'000));
}

TEST_F(event_bus_test, what_is_left_in_the_queue_ends_with_the_bus) {
  const auto shared = std::make_shared<int>(1);
  struct sharing {
    std::shared_ptr<int> value;
  };
  for (int i = 0; i < 10; ++i) events().publish(sharing{shared});
  events().publish(sharing{shared}, deadline::at(loop_->now()));
  EXPECT_EQ(shared.use_count(), 12);
  bus_.reset();
  EXPECT_EQ(shared.use_count(), 1);
  settle();
}

TEST_F(event_bus_test, publishing_fails_at_the_bound) {
  open_bus({.capacity = 2, .bound = 3});
  const auto heard = note_numbers();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(events().publish(numbered{i}));
  EXPECT_EQ(events().publish(numbered{3}).error(), errc::limit_exceeded);
  EXPECT_EQ(events().publish(numbered{4}, deadline::at(loop_->now())).error(),
            errc::limit_exceeded);
  settle();
  EXPECT_EQ(seen_, (std::vector{0, 1, 2}));
  EXPECT_TRUE(events().publish(numbered{5}));
  EXPECT_EQ(events().statistics_of<numbered>().refused, 2U);
}

TEST_F(event_bus_test, a_turn_tells_no_more_than_its_share) {
  open_bus({.events_per_turn = 10});
  const auto heard = note_numbers();
  for (int i = 0; i < 25; ++i)
    events().publish(numbered{i}, i < 5 ? priority::low : priority::high);
  loop_->run_once(time_point::min());
  EXPECT_EQ(seen_.size(), 10U);
  loop_->run_once(time_point::min());
  EXPECT_EQ(seen_.size(), 20U);
  loop_->run_once(time_point::min());
  EXPECT_EQ(seen_.size(), 25U);
  EXPECT_EQ(seen_.back(), 4) << "the low ones last, though the turn began anew";
}

TEST_F(event_bus_test, an_event_that_publishes_itself_does_not_keep_input_out) {
  bus_.reset();
  loop_.reset();
  open({.backend = backend_kind::epoll});
  open_bus({});
  int rounds = 0;
  auto forever = events().on<ping>([&](const ping&) {
    ++rounds;
    events().publish(ping{}, priority::critical);
  });
  events().publish(ping{});
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  run([](event_loop& loop, int input, event_registration& storm) -> task<void> {
    EXPECT_TRUE(co_await readable(loop, input));
    storm.remove();
  }(*loop_, ends[0], forever));
  EXPECT_GT(rounds, 0);
  for (const int end : ends) ::close(end);
}

TEST_F(event_bus_test, an_idle_bus_is_nothing_to_the_loop) {
  const auto heard = note_numbers();
  events().publish(numbered{1});
  settle();
  EXPECT_TRUE(loop_->finished());
}

TEST_F(event_bus_test, statistics_say_what_has_become_of_each_type) {
  const auto heard = note_numbers();
  for (int i = 0; i < 5; ++i) events().publish(numbered{i});
  events().publish(ping{});
  EXPECT_EQ(events().statistics_of<numbered>().depth, 5U);
  settle();
  events().publish(numbered{6});
  settle();
  const event_statistics of_numbered = events().statistics_of<numbered>();
  EXPECT_TRUE(of_numbered.type.ends_with("numbered")) << of_numbered.type;
  EXPECT_EQ(of_numbered.published, 6U);
  EXPECT_EQ(of_numbered.told, 6U);
  EXPECT_EQ(of_numbered.unheard, 0U);
  EXPECT_EQ(of_numbered.depth, 0U);
  EXPECT_EQ(of_numbered.depth_max, 5U);
  EXPECT_EQ(events().statistics_of<ping>().unheard, 1U);
  EXPECT_EQ(events().statistics().size(), 2U) << "types of other buses are not listed";
}

TEST_F(event_bus_test, an_event_told_after_its_deadline_is_late) {
  open_bus({.events_per_turn = 1});
  const time_point now = loop_->now();
  events().publish(ping{}, deadline::at(now + 1h));
  events().publish(ping{}, deadline::at(now - 1ns));
  settle();
  EXPECT_EQ(events().statistics_of<ping>().late, 1U);
}

// Events that nobody hears of are let go of many at a time: the others keep their place.
TEST_F(event_bus_test, what_is_heard_keeps_its_place_among_what_is_not) {
  struct unheard {
    int number;
  };
  const auto heard = note_numbers();
  for (int i = 0; i < 3000; ++i) {
    EXPECT_TRUE(events().publish(unheard{i}));
    EXPECT_TRUE(events().publish(ping{}));
    if (i % 1000 == 999) {
      EXPECT_TRUE(events().publish(numbered{i}));
    }
  }
  EXPECT_EQ(events().statistics_of<unheard>().depth, 3000U);
  settle();
  EXPECT_EQ(seen_, (std::vector{999, 1999, 2999}));
  EXPECT_EQ(events().queued(), 0U);
  EXPECT_EQ(events().statistics_of<unheard>().told, 3000U);
  EXPECT_EQ(events().statistics_of<unheard>().unheard, 3000U);
  EXPECT_EQ(events().statistics_of<unheard>().depth_max, 3000U);
}

}  // namespace
}  // namespace weft

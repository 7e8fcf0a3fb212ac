// Shards on threads of their own that tell each other events and call each other's services, which
// come and go meanwhile: where a data race, a lost answer or a lost event would show.
#include <weft/service/remote.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>

#include <weft/base/random.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sharded.hpp>
#include <weft/loop/shards_fixture_test.hpp>
#include <weft/service/event_bus.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

constexpr unsigned shard_count = 3;
constexpr int rounds = 400;
constexpr std::string_view desk_name = "desk";

struct sent {
  unsigned from = 0;
  std::uint64_t number = 0;
};
struct for_all {};

/// What a shard is called for; each is closed some time, and another opens.
struct desk {
  explicit desk(std::uint64_t& counts) : calls{counts} {}
  std::uint64_t ask(std::uint64_t number) {
    ++calls;
    return number + 1;
  }
  task<result<std::uint64_t>> think(std::uint64_t number) {
    ++calls;
    const auto slept = co_await sleep_for(event_loop::current(), 20us);
    if (!slept) co_return fail(slept.error());
    co_return number + 1;
  }
  std::uint64_t& calls;
};
struct open_desk {
  explicit open_desk(std::uint64_t& counts) : here{counts} { offer.start(); }
  lifetime own{desk_name};
  desk here;
  detail::remote_offer<desk> offer{here, event_loop::current(), own};
};

/// One shard's part of the storm.
class house {
 public:
  explicit house(std::uint64_t seed)
      : dice_{seed}, bus_{{.capacity = 16, .bound = 32}, event_loop::current()} {
    news_ = bus_.on<sent>([this](const sent& news) {
      EXPECT_EQ(news.number, ++heard_[news.from]) << "each once, in the order of their sending";
    });
    all_ = bus_.on<for_all>([this](const for_all&) { ++heard_of_all_; });
    desk_.emplace(calls_);
  }

  task<void> storm() {
    for (int round = 0; round < rounds; ++round) {
      const auto to = static_cast<unsigned>(dice_.below(shard_count));
      switch (dice_.below(8)) {
        case 0: co_await reopen(); break;
        case 1:
          if (bus_.publish(for_all{}, to_all_shards)) ++sent_to_all;
          break;
        case 2:
        case 3: co_await call(to, false); break;
        case 4: co_await call(to, true); break;
        default: co_await send(to);
      }
    }
  }
  task<void> end() {
    std::ignore = co_await bus_.stop();
    co_await close();
    desk_.reset();
  }

  [[nodiscard]] std::uint64_t heard_from(unsigned shard) const { return heard_.at(shard); }
  [[nodiscard]] std::uint64_t heard_of_all() const { return heard_of_all_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

  std::array<std::uint64_t, shard_count> sent_to{};
  std::uint64_t sent_to_all = 0;
  std::uint64_t answers = 0;   // that calls have had
  std::uint64_t in_haste = 0;  // calls of which nobody knows whether they came

 private:
  task<void> send(unsigned to) {
    const sent news{.from = event_loop::current().shard(), .number = ++sent_to.at(to)};
    const auto taken = co_await bus_.publish_when_room(news, to_shard{to});
    EXPECT_TRUE(taken);
  }
  task<void> call(unsigned to, bool hastily) {
    const remote<desk> far{to};
    const std::uint64_t number = dice_.below(1'000);
    result<std::uint64_t> answer;
    if (hastily)
      answer = co_await with_timeout(duration{dice_.between(0, 100) * 1us},
                                     far.call(&desk::think, number));
    else
      answer = co_await far.call(&desk::ask, number);
    EXPECT_EQ(answer.value_or(number + 1), number + 1);
    EXPECT_TRUE(answer || hastily || answer.error() == errc::closed);
    answers += answer ? 1 : 0;
    in_haste += !answer && hastily ? 1 : 0;
  }
  task<void> close() {
    desk_->offer.stop();
    desk_->own.request_end();
    co_await desk_->own.ended();
  }
  task<void> reopen() {
    co_await close();
    desk_.emplace(calls_);
  }

  random dice_;
  event_bus bus_;
  event_registration news_;
  event_registration all_;
  std::array<std::uint64_t, shard_count> heard_{};
  std::uint64_t heard_of_all_ = 0;
  std::uint64_t calls_ = 0;  // that have come
  std::optional<open_desk> desk_;
};

using houses = sharded<std::unique_ptr<house>>;

template <class F>
task<std::uint64_t> sum(houses& all, F of_one) {
  const auto each = co_await all.map([of_one](auto& here) { return of_one(*here); });
  std::uint64_t total = 0;
  for (const std::uint64_t one : *each) total += one;
  co_return total;
}

/// All that was sent is told some time.
task<void> until_told(houses& all) {
  for (unsigned from = 0; from < shard_count; ++from)
    for (unsigned to = 0; to < shard_count; ++to) {
      const auto wanted = co_await all.on(from, [to](auto& here) { return here->sent_to.at(to); });
      for (;;) {
        const auto told =
            co_await all.on(to, [from](auto& here) { return here->heard_from(from); });
        EXPECT_LE(*told, *wanted);
        if (*told >= *wanted) break;
        co_await yield{event_loop::current()};
      }
    }
  const auto wanted = shard_count * co_await sum(all, [](house& one) { return one.sent_to_all; });
  for (;;) {
    const auto told = co_await sum(all, [](house& one) { return one.heard_of_all(); });
    EXPECT_LE(told, wanted);
    if (told >= wanted) break;
    co_await yield{event_loop::current()};
  }
}

using crossing_storm = on_shards;
INSTANTIATE_TEST_SUITE_P(backends, crossing_storm, threaded_backends, shards_backend_name);

TEST_P(crossing_storm, loses_no_event_and_no_answer) {
  run(shard_count, [](event_loop&) -> task<void> {
    houses all;
    EXPECT_TRUE(co_await all.start([](unsigned shard) { return std::make_unique<house>(shard); }));
    EXPECT_TRUE(co_await all.broadcast([](auto& here) { return here->storm(); }));
    co_await until_told(all);
    const auto came = co_await sum(all, [](house& one) { return one.calls(); });
    const auto answered = co_await sum(all, [](house& one) { return one.answers; });
    const auto unknown = co_await sum(all, [](house& one) { return one.in_haste; });
    EXPECT_GE(came, answered);
    EXPECT_LE(came, answered + unknown);
    EXPECT_TRUE(co_await all.broadcast([](auto& here) { return here->end(); }));
    co_await all.stop();
  });
}

}  // namespace
}  // namespace weft

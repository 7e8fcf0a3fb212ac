#include <weft/service/remote.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sharded.hpp>
#include <weft/loop/shards_fixture_test.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/application.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

struct book {
  book() { ++made; }
  [[nodiscard]] int twice(int number) const { return 2 * number; }
  void write(std::string text) { written = std::move(text); }
  result<int> refuse() { return fail(errc::refused); }
  task<unsigned> where() {
    co_await yield{event_loop::current()};
    works_for = (co_await this_task::environment()).owner;
    co_return event_loop::current().shard();
  }
  task<result<void>> sleep(duration length) {
    co_return co_await sleep_for(event_loop::current(), length);
  }
  task<result<void>> wait() { co_return co_await released.wait(); }
  task<void> keep(std::unique_ptr<std::string> text) {
    written = *text;
    co_return;
  }

  static inline std::atomic<int> made = 0;
  std::string written;
  const lifetime* works_for = nullptr;
  event released;
};

/// On every shard, of a program that has one book: none of them is there yet when the book is.
struct reader {
  explicit reader(remote<book>& far) : book_{far} {}
  task<result<void>> start() {
    const auto doubled = co_await book_.call(&book::twice, 4);
    read += doubled.value_or(0);
    const auto shard = co_await book_.call(&book::where);
    co_return shard ? result<void>{} : fail(shard.error());
  }

  static inline std::atomic<int> read = 0;
  remote<book>& book_;
};

/// On every shard: asks for what is never answered.
struct patient {
  patient(remote<book>& far, lifetime& own) : book_{far} { own.spawn(ask()); }
  task<void> ask() {
    ++asking;
    const auto answer = co_await book_.call(&book::wait);
    const error why = answer.error_or(errc::refused);
    if (why == errc::cancelled || why == errc::closed) ++ended;
  }

  static inline std::atomic<int> asking = 0;
  static inline std::atomic<int> ended = 0;
  remote<book>& book_;
};

constexpr std::string_view service_name = "book";

/// A book that its shard offers.
struct shelf {
  shelf() : offer{kept, event_loop::current(), own} { offer.start(); }

  lifetime own{service_name};
  book kept;
  detail::remote_offer<book> offer;
};

/// As a shard does: there is a shelf until its loop is asked to stop.
task<void> keep_shelf(std::atomic<bool>& is_there) {
  shelf here;
  is_there = true;
  co_await until_stopped{event_loop::current()};
  here.offer.stop();
  here.own.request_end();
  co_await here.own.ended();
}

task<void> ask(unsigned shard, std::atomic<int>& answered, result<void>& answer) {
  const remote<book> far{shard};
  answer = co_await far.call(&book::wait);
  ++answered;
}

class remote_test : public on_shards {
 protected:
  using shelves = sharded<std::unique_ptr<shelf>>;

  /// A shelf on each of two shards, while `body` runs on the first.
  template <class F>
  void with_shelves(F body) {
    run(2, [&](event_loop&) -> task<void> {
      shelves all;
      EXPECT_TRUE(co_await all.start([](unsigned) { return std::make_unique<shelf>(); }));
      co_await body(all);
      co_await all.stop();
    });
  }
};
INSTANTIATE_TEST_SUITE_P(backends, remote_test, threaded_backends, shards_backend_name);

TEST_P(remote_test, calls_methods_of_all_kinds_here_and_there) {
  with_shelves([](shelves& all) -> task<void> {
    for (unsigned shard = 0; shard < 2; ++shard) {
      const remote<book> far{shard};
      EXPECT_EQ(*co_await far.call(&book::twice, 21), 42);
      EXPECT_TRUE(co_await far.call(&book::write, "a text"));
      EXPECT_EQ(*co_await all.on(shard, [](auto& here) { return here->kept.written; }), "a text");
      EXPECT_EQ((co_await far.call(&book::refuse)).error(), errc::refused);
      EXPECT_EQ(*co_await far.call(&book::where), shard);
      EXPECT_TRUE(co_await far.call(&book::keep, std::make_unique<std::string>("moved")));
      EXPECT_EQ(*co_await all.on(shard, [](auto& here) { return here->kept.written; }), "moved");
      EXPECT_TRUE(
          *co_await all.on(shard, [](auto& here) { return here->kept.works_for == &here->own; }));
    }
  });
}

TEST_P(remote_test, keeps_the_deadline_of_the_caller) {
  with_shelves([](shelves&) -> task<void> {
    const remote<book> far{1};
    const auto late = co_await with_timeout(1ms, far.call(&book::sleep, duration{1h}));
    EXPECT_FALSE(late);
    EXPECT_EQ(late.error_or(errc::closed), errc::timed_out);
  });
}

TEST_P(remote_test, says_that_the_service_is_not_there) {
  with_shelves([](shelves& all) -> task<void> {
    const remote<book> far{1};
    EXPECT_TRUE(co_await all.on(1, [](auto& here) { here->offer.stop(); }));
    EXPECT_EQ((co_await far.call(&book::twice, 1)).error(), errc::closed);
    EXPECT_EQ((co_await far.call(&book::where)).error(), errc::closed);
  });
}

TEST_P(remote_test, a_call_under_way_keeps_the_service) {
  with_shelves([](shelves& all) -> task<void> {
    const remote<book> far{1};
    std::atomic<int> answered = 0;
    result<void> answer = fail(errc::refused);
    scope asking{co_await this_task::environment()};
    asking.spawn(ask(1, answered, answer));
    const auto busy = [](auto& here) { return !here->own.idle(); };
    while (!*co_await all.on(1, busy)) co_await yield{event_loop::current()};
    const auto end = [](std::unique_ptr<shelf>& here) -> task<void> {
      here->offer.stop();
      here->own.request_end();
      EXPECT_FALSE(here->own.idle());
      here->kept.released.set();
      co_await here->own.ended();
    };
    EXPECT_TRUE(co_await all.on(1, end));
    EXPECT_TRUE(*co_await all.on(1, [](auto& here) { return here->own.idle(); }));
    co_await asking.join();
    EXPECT_EQ(answered, 1);
    EXPECT_TRUE(answer) << "it was not cut short";
    EXPECT_EQ((co_await far.call(&book::twice, 1)).error(), errc::closed);
  });
}

TEST_P(remote_test, a_call_hears_that_the_shard_it_is_on_ends) {
  run(2, [&](event_loop& loop) -> task<void> {
    std::atomic<bool> is_there = false;
    EXPECT_TRUE(co_await on(1, [&] { event_loop::current().spawn(keep_shelf(is_there)); }));
    while (!is_there) co_await yield{loop};
    std::atomic<int> answered = 0;
    result<void> answer;
    scope asking{co_await this_task::environment()};
    asking.spawn(ask(1, answered, answer));
    co_await yield{loop};  // it is on its way
    shards_->request_stop(1);
    co_await asking.join();
    EXPECT_TRUE(answer.error_or(errc::refused) == errc::cancelled ||
                answer.error_or(errc::refused) == errc::closed);
    while (!shards_->has_ended(1)) co_await yield{loop};
    const remote<book> gone{1};
    EXPECT_EQ((co_await gone.call(&book::twice, 1)).error(), errc::closed);
    EXPECT_EQ((co_await gone.call(&book::where)).error(), errc::closed);
  });
}

TEST_P(remote_test, a_call_ends_before_the_shard_that_made_it) {
  run(2, [&](event_loop& loop) -> task<void> {
    shelf here;
    std::atomic<int> answered = 0;
    result<void> answer;
    EXPECT_TRUE(co_await on(1, [&] { event_loop::current().spawn(ask(0, answered, answer)); }));
    while (here.own.idle()) co_await yield{loop};
    shards_->request_stop(1);
    while (!shards_->has_ended(1)) co_await yield{loop};
    EXPECT_EQ(answered, 1);
    EXPECT_EQ(answer.error_or(errc::refused), errc::cancelled);
    EXPECT_TRUE(here.own.idle());
  });
}

class remote_in_an_application : public ::testing::Test {
 protected:
  std::string name_ = "remote";
  std::string threads_ = "--threads=3";
  std::array<char*, 3> values_{name_.data(), threads_.data(), nullptr};
  application app_{2, values_.data()};
};

TEST_F(remote_in_an_application, is_the_same_one_on_all_shards) {
  book::made = 0;
  reader::read = 0;
  app_.add<reader>();  // whoever calls starts after what is called, on its shard too
  app_.add<book>().single();
  app_.on_ready([this] { app_.request_stop(); });
  EXPECT_EQ(app_.run(), 0);
  EXPECT_EQ(book::made, 1);
  EXPECT_EQ(reader::read, 3 * 8);
}

TEST_F(remote_in_an_application, its_calls_end_with_the_program) {
  patient::asking = 0;
  patient::ended = 0;
  app_.add<patient>();
  app_.add<book>().single();
  app_.on_ready([this] { app_.request_stop(); });
  EXPECT_EQ(app_.run(), 0);
  EXPECT_EQ(patient::ended, patient::asking);
}

}  // namespace
}  // namespace weft

#include "town_hall.hpp"

#include <chrono>

#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>

#include "town_storm.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

task<result<std::uint64_t>> call(street& here, const remote<hall>& far, std::uint64_t number) {
  random& dice = here.all.dice;
  const std::uint64_t what = dice.below(here.is_wild() ? 6 : 5);
  const auto length = dice.between(0, 5) * 1ms;
  if (what == 0) co_return co_await far.call(&hall::consider, number, length);
  if (what == 5) co_return co_await far.call(&hall::decide, number);
  co_return co_await far.call(&hall::answer, number);
}

}  // namespace

hall::hall(resident_options given, street& in, lifetime& own, resident& one)
    : resident{given, in, own, {&one}} {}

void hall::enter(std::uint64_t call) {
  town& all = here().all;
  touch();
  all.require(all.door_is_open && is_up(), "nobody calls who has stopped");
  all.require(++all.calls[call] == 1, "a call comes once");
  all.note(50, call);
}

std::uint64_t hall::answer(std::uint64_t call) {
  enter(call);
  return answer_to(call);
}

task<result<std::uint64_t>> hall::consider(std::uint64_t call, duration length) {
  enter(call);
  const auto slept = co_await sleep_for(here().shard.loop(), length);
  touch();
  here().all.require(is_up(), "nobody stops before who calls is answered");
  if (!slept) co_return fail(slept.error());
  co_return answer_to(call);
}

task<std::uint64_t> hall::decide(std::uint64_t call) {
  enter(call);
  co_await with_timeout(30ms, change_something(here()));
  touch();
  here().all.require(is_up(), "nobody stops before who calls is answered");
  co_return answer_to(call);
}

hall_door::hall_door(hall& offered, event_loop& loop, lifetime& own, street& in)
    : remote_offer{offered, loop, own}, all_{in.all} {}

void hall_door::start() noexcept {
  remote_offer::start();
  all_.door_is_open = true;
}

void hall_door::stop() noexcept {
  remote_offer::stop();
  all_.door_is_open = false;
  ++all_.doors_closed;
}

task<void> call_hall(street& here, const remote<hall>& far) {
  town& all = here.all;
  const std::uint64_t number = all.calls.size();
  all.calls.push_back(0);
  ++all.seen.calls;
  const std::uint64_t closed_before = all.doors_closed;
  const bool was_open = all.door_is_open;
  environment env = co_await this_task::environment();
  if (here.is_wild() && all.dice.chance(1, 4))
    env.until =
        std::min(env.until, deadline::at(here.shard.loop().now() + all.dice.between(0, 20) * 1ms));
  const auto answer = co_await call(here, far, number).in(env);
  if (answer) {
    all.require(*answer == hall::answer_to(number), "the answer is the one to the call");
    all.require(all.calls[number] == 1, "who is answered was heard");
    co_return;
  }
  const error why = answer.error();
  const bool remained_open = was_open && all.door_is_open && all.doors_closed == closed_before;
  all.require(why == errc::closed ? !remained_open
              : why == errc::timed_out
                  ? env.until.passed(here.shard.loop().now())
                  : why == errc::cancelled && (env.stop.stop_requested() || all.now[0]->stops()),
              "a call fails because the hall is closed, or who calls does not want it any more");
  all.note(51, number, static_cast<std::uint64_t>(why.code()));
}

}  // namespace weft::simulation

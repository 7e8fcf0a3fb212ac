#include "town_news.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

#include <weft/coro/with_deadline.hpp>
#include <weft/loop/event_loop.hpp>

#include "town.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

constexpr unsigned due_lane = 1;

unsigned lane_of(priority band) noexcept {
  const auto index = static_cast<unsigned>(band);
  return index + (index >= due_lane ? 1 : 0);
}

priority draw_band(random& dice) { return static_cast<priority>(dice.below(priority_count)); }

news_ledger::entry begin_entry(street& here, unsigned to, unsigned lane, posting how) {
  return {.bus = here.office.bus,
          .number = ++here.office.sent,
          .from = here.shard.index(),
          .to = to,
          .lane = lane,
          .how = how,
          .is_held = true};
}

/// Its publisher knows now what has become of it.
void settle(street& here, std::uint32_t number, bool is_taken) {
  town& all = here.all;
  news_ledger::entry& one = all.ledger.of(number);
  one.is_held = false;
  one.is_refused = !is_taken;
  all.require(is_taken ? one.torn_open == 0 : one.told == 0,
              "news that are taken are told while their bus is open, and no others");
  all.note(40, number, is_taken);
}

unsigned draw_shard(town& all) { return static_cast<unsigned>(all.dice.below(all.now.size())); }

void publish_here(street& here, event_bus& bus, bool has_due) {
  random& dice = here.all.dice;
  const priority band = draw_band(dice);
  const unsigned lane = has_due ? due_lane : lane_of(band);
  const auto due = here.shard.loop().now() + dice.between(1, 4) * 1ms;
  auto one =
      begin_entry(here, here.shard.index(), lane, has_due ? posting::by_a_time : posting::at_once);
  if (has_due) one.due = due;
  const std::uint32_t number = here.all.ledger.write(one);
  news piece{letter{here.all.ledger, number}};
  const auto sent = has_due ? bus.publish(std::move(piece), deadline::at(due))
                            : bus.publish(std::move(piece), band);
  // A bus that has no room leaves it as it was, and this one is not to count as told.
  piece.about.forget();  // NOLINT(bugprone-use-after-move)
  if (sent) here.office.in_queue.push_back({.entry = number, .lane = lane, .due = one.due});
  settle(here, number, sent.has_value());
}

void publish_there(street& here, event_bus& bus) {
  const unsigned to = draw_shard(here.all);
  const priority band = draw_band(here.all.dice);
  const std::uint32_t number =
      here.all.ledger.write(begin_entry(here, to, lane_of(band), posting::at_once));
  const auto sent = bus.publish(news{letter{here.all.ledger, number}}, to_shard{to}, band);
  if (sent && to == here.shard.index())
    here.office.in_queue.push_back({.entry = number, .lane = lane_of(band), .due = {}});
  settle(here, number, sent.has_value());
}

void publish_everywhere(street& here, event_bus& bus) {
  town& all = here.all;
  const priority band = draw_band(all.dice);
  const std::uint32_t number =
      all.ledger.write(begin_entry(here, news_ledger::to_all, lane_of(band), posting::at_once));
  news piece{letter{all.ledger, number}};
  const auto sent = bus.publish(piece, to_all_shards, band);
  piece.about.forget();
  const news_ledger::entry& one = all.ledger.of(number);
  all.require(one.torn == (sent ? 0 : one.copies), "news for all are for all or for none");
  all.require(!sent || one.copies == all.now.size(), "news for all are for each");
  if (sent) here.office.in_queue.push_back({.entry = number, .lane = lane_of(band), .due = {}});
  settle(here, number, sent.has_value());
}

task<void> publish_patiently(street& here, event_bus& bus) {
  const unsigned to = draw_shard(here.all);
  const priority band = draw_band(here.all.dice);
  const std::uint32_t number =
      here.all.ledger.write(begin_entry(here, to, lane_of(band), posting::when_there_is_room));
  const auto sent =
      co_await bus.publish_when_room(news{letter{here.all.ledger, number}}, to_shard{to}, band);
  settle(here, number, sent.has_value());
}

task<void> publish_and_ask(street& here, event_bus& bus) {
  const priority band = draw_band(here.all.dice);
  const std::uint32_t number = here.all.ledger.write(
      begin_entry(here, here.shard.index(), lane_of(band), posting::when_there_is_room));
  const auto heard = co_await bus.publish_and_wait(news{letter{here.all.ledger, number}}, band);
  news_ledger::entry& one = here.all.ledger.of(number);
  here.all.require(!heard || one.told != 0 || one.is_vetoed, "who has heard was told");
  if (heard)
    settle(here, number, true);
  else
    one.is_held = false;  // it may be in the queue all the same
}

}  // namespace

letter::letter(const letter& other) : book_{other.book_}, entry_{other.entry_} {
  if (book_ != nullptr) book_->copied(entry_);
}

letter::~letter() {
  if (book_ != nullptr) book_->ended(entry_);
}

void news_ledger::ended(std::uint32_t number) noexcept {
  const unsigned here = event_loop::current().shard();
  entry& one = entries_[number];
  if ((one.told >> here & 1U) != 0 || one.is_vetoed) return;
  const street* const there = all_.now[here];
  const bool is_open = there != nullptr && there->office.is_open;
  if (one.is_held) {
    ++one.torn;
    one.torn_open += is_open ? 1 : 0;
    return;
  }
  ++all_.seen.lost;
  all_.require(!is_open, "no news are lost but with their bus");
}

bool order_of_news::follows(const news_ledger::entry& told) {
  const std::uint64_t way =
      (std::uint64_t{told.bus} * 8 + told.lane) * 4 + static_cast<std::uint64_t>(told.how);
  return std::exchange(last_[way], told.number) < told.number;
}

town_bus::town_bus(town_bus_options given, event_loop& on, street& in)
    : event_bus{given.bounds, on},
      here_{in},
      before_{before<news>(
          [this](const news& told) {
            sees(told);
            return true;
          },
          nullptr)},
      after_{after<news>([this](const news&, unsigned) { ++ended_; }, nullptr)} {
  here_.office = post_office{.is_open = true, .bus = ++here_.all.buses};
}

town_bus::~town_bus() {
  here_.office.is_open = false;
  const event_statistics counts = statistics_of<news>();
  here_.all.require(ended_ == counts.told - counts.vetoed,
                    "each piece of news is told to its end, once");
  here_.all.require(counts.published == counts.told + counts.dropped + counts.depth,
                    "what is taken is told or dropped");
}

task<result<void>> town_bus::stop() {
  here_.office.is_open = false;
  co_return co_await event_bus::stop();
}

/// What was published here at once is known to stand in the queue, and what is first there.
void town_bus::sees(const news& told) {
  town& all = here_.all;
  news_ledger::entry& one = all.ledger.of(told.about.entry());
  const unsigned here = here_.shard.index();
  all.note(41, told.about.entry(), here);
  ++all.seen.news;
  all.require((one.told >> here & 1U) == 0 && !one.is_refused, "news are told once");
  all.require(one.to == news_ledger::to_all || one.to == here, "news are told where they are for");
  one.told = static_cast<std::uint8_t>(one.told | 1U << here);
  if (one.how != posting::by_a_time)
    all.require(here_.office.told.follows(one), "news of one band are told in their order");
  auto& queue = here_.office.in_queue;
  for (const post_office::waiting& other : queue)
    all.require(other.lane >= one.lane, "the most urgent news are told first");
  const auto self = std::ranges::find(queue, told.about.entry(), &post_office::waiting::entry);
  if (self == queue.end()) return;
  if (one.how == posting::by_a_time)
    for (const post_office::waiting& other : queue)
      all.require(other.lane != one.lane ||
                      std::tie(other.due, other.entry) >= std::tie(self->due, self->entry),
                  "what is due first is told first");
  queue.erase(self);
}

void veto(street& here, const news& told) {
  here.all.ledger.of(told.about.entry()).is_vetoed = true;
  std::erase_if(here.office.in_queue,
                [&](const auto& each) { return each.entry == told.about.entry(); });
}

void publish_at_once(street& here, event_bus& bus) {
  switch (here.all.dice.below(6)) {
    case 0:
    case 1: publish_here(here, bus, false); break;
    case 2: publish_here(here, bus, true); break;
    case 3: publish_everywhere(here, bus); break;
    case 4: std::ignore = bus.publish(rumour{}, to_shard{draw_shard(here.all)}); break;
    default: publish_there(here, bus);
  }
}

task<void> publish_something(street& here, event_bus& bus) {
  random& dice = here.all.dice;
  const std::uint64_t what = dice.below(8);
  if (what == 0) {
    co_await publish_patiently(here, bus);
  } else if (what == 1) {
    co_await with_timeout(dice.between(0, 20) * 1ms, publish_patiently(here, bus));
  } else if (what == 2) {
    co_await with_timeout(dice.between(0, 20) * 1ms, publish_and_ask(here, bus));
  } else {
    for (unsigned left = dice.between(1U, 6U); left > 0; --left) publish_at_once(here, bus);
  }
}

void ear::hears(street& here, const news& told) {
  const news_ledger::entry& one = here.all.ledger.of(told.about.entry());
  here.all.require((one.told >> here.shard.index() & 1U) != 0, "who hears was told");
  here.all.require(one.how == posting::by_a_time || order_.follows(one),
                   "who hears, hears in order");
}

}  // namespace weft::simulation

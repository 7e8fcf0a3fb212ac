// News in a town: what is known of each piece, from its publishing to its end, and the bus that
// tells them.
//
// Contract: a letter knows of its moves, copies and end; the ledger knows of each letter to whom it
// was sent and who was told; a town_bus sees all that is told on its shard, before anybody hears of
// it. What ends untold on a shard whose bus is open is lost, and no copy is told twice.
//
//   publish_something(here, bus);
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/service/event_bus.hpp>

namespace weft::simulation {

struct town;
struct street;
class news_ledger;

/// How a piece of news was given to its bus: each way has an order of its own.
enum class posting : std::uint8_t { at_once, when_there_is_room, by_a_time };

class letter {
 public:
  letter() noexcept = default;
  letter(news_ledger& book, std::uint32_t entry) noexcept : book_{&book}, entry_{entry} {}
  letter(letter&& other) noexcept
      : book_{std::exchange(other.book_, nullptr)}, entry_{other.entry_} {}
  letter(const letter& other);
  letter& operator=(letter&&) = delete;
  ~letter();

  [[nodiscard]] std::uint32_t entry() const noexcept { return entry_; }
  /// What becomes of it is no matter.
  void forget() noexcept { book_ = nullptr; }

 private:
  news_ledger* book_ = nullptr;
  std::uint32_t entry_ = 0;
};

struct news {
  letter about;
};
/// Nothing but its type, and nobody listens to most of it.
struct rumour {};

class news_ledger {
 public:
  static constexpr unsigned to_all = ~0U;
  struct entry {
    std::uint32_t bus;     // who sends it: the how manieth of all buses
    std::uint64_t number;  // among those of that bus, in the order of their sending
    time_point due{};
    unsigned from;
    unsigned to;
    unsigned lane;  // 0 is the most urgent; that of dues is 1
    posting how;
    std::uint8_t told = 0;  // bits, by shard
    bool is_held = false;   // by who publishes, who does not know yet whether it is taken
    bool is_refused = false;
    bool is_vetoed = false;
    unsigned copies = 0;
    unsigned torn = 0;       // ended while it was held
    unsigned torn_open = 0;  // of these, on a shard whose bus was open
  };

  explicit news_ledger(town& of) noexcept : all_{of} {}

  [[nodiscard]] std::uint32_t write(entry added) {
    entries_.push_back(added);
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }
  [[nodiscard]] entry& of(std::uint32_t number) noexcept { return entries_[number]; }
  void copied(std::uint32_t number) noexcept { ++entries_[number].copies; }
  void ended(std::uint32_t number) noexcept;

 private:
  town& all_;
  std::vector<entry> entries_;
};

/// The order in which somebody has been told.
class order_of_news {
 public:
  /// Whether it is after all that came from there this way in this band.
  [[nodiscard]] bool follows(const news_ledger::entry& told);

 private:
  std::map<std::uint64_t, std::uint64_t> last_;  // number, by sender, band and way
};

/// What a street knows of its bus.
struct post_office {
  bool is_open = false;    // takes what comes
  std::uint32_t bus = 0;   // the how manieth of all buses
  std::uint64_t sent = 0;  // by it
  struct waiting {
    std::uint32_t entry;
    unsigned lane;
    time_point due;
  };
  std::vector<waiting> in_queue{};  // published here for here, at once, and not told
  order_of_news told{};
};

struct town_bus_options {
  event_options bounds;
};

class town_bus : public event_bus {
 public:
  using options = town_bus_options;
  town_bus(town_bus_options given, event_loop& on, street& in);
  town_bus(const town_bus&) = delete;
  town_bus& operator=(const town_bus&) = delete;
  ~town_bus();

  [[nodiscard]] task<result<void>> stop();

 private:
  void sees(const news& told);

  street& here_;
  std::uint64_t ended_ = 0;  // all who were told are through with it
  event_registration before_;
  event_registration after_;
};

/// Keeps it from all who come later.
void veto(street& here, const news& told);

/// A piece of news, for this street or others.
[[nodiscard]] task<void> publish_something(street& here, event_bus& bus);
/// As publish_something(), where nobody can wait.
void publish_at_once(street& here, event_bus& bus);

/// What hears of news, and insists that they come in order, each once.
class ear {
 public:
  void hears(street& here, const news& told);

 private:
  order_of_news order_;
};

}  // namespace weft::simulation

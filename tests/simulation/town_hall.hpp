// What exists once in a town, on its first shard, and who calls it from all of them.
//
//   co_await call_hall(here, far);
#pragma once

#include <cstdint>

#include <weft/coro/task.hpp>
#include <weft/service/remote.hpp>

#include "resident.hpp"

namespace weft::simulation {

class hall : public resident {
 public:
  hall(resident_options given, street& in, lifetime& own, resident& one);

  /// What a call with this number is answered.
  [[nodiscard]] static std::uint64_t answer_to(std::uint64_t call) noexcept { return 3 * call + 1; }

  [[nodiscard]] std::uint64_t answer(std::uint64_t call);
  [[nodiscard]] task<result<std::uint64_t>> consider(std::uint64_t call, duration length);
  /// Asks for a change on its own shard meanwhile.
  [[nodiscard]] task<std::uint64_t> decide(std::uint64_t call);

 private:
  void enter(std::uint64_t call);
};

/// Lets the hall be called.
class hall_door : public detail::remote_offer<hall> {
 public:
  hall_door(hall& offered, event_loop& loop, lifetime& own, street& in);
  void start() noexcept;
  void stop() noexcept;

 private:
  town& all_;
};

/// Calls it in one of its ways, perhaps without much patience.
[[nodiscard]] task<void> call_hall(street& here, const remote<hall>& far);

}  // namespace weft::simulation

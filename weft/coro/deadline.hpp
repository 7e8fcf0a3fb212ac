// When to give up. A deadline is a point in time, not a length, so that it can be handed down a
// call chain without growing: five waits under one deadline of a second take a second.
//
// Contract: compared against the loop's clock. never() is later than all. Trivially copyable.
//
//   auto until = deadline::at(loop.now() + std::chrono::seconds{1});
//   if (until.passed(loop.now())) return fail(errc::timed_out);
#pragma once

#include <compare>

#include <weft/base/time.hpp>

namespace weft {

class deadline {
 public:
  constexpr deadline() noexcept = default;

  [[nodiscard]] static constexpr deadline never() noexcept { return {}; }
  [[nodiscard]] static constexpr deadline at(time_point when) noexcept { return deadline{when}; }

  [[nodiscard]] constexpr bool is_never() const noexcept { return when_ == time_point::max(); }
  [[nodiscard]] constexpr bool passed(time_point now) const noexcept { return when_ <= now; }
  [[nodiscard]] constexpr time_point when() const noexcept { return when_; }

  friend constexpr auto operator<=>(const deadline&, const deadline&) noexcept = default;

 private:
  explicit constexpr deadline(time_point when) noexcept : when_{when} {}
  time_point when_ = time_point::max();
};

}  // namespace weft

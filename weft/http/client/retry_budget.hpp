// How many requests may be sent again.
//
// Problem: when a server is in trouble, clients that all ask again multiply what it has to bear.
// Contract: each request earns a share of a retry, each retry costs a whole one; some are there
// from the start, and no more are ever saved. So no more than that share of the load is added for
// long (Finagle's retry budgets; Google's "Site Reliability Engineering", chapter 22). Plain data.
//
//   retry_budget budget{10, 10};                // one in ten requests, ten saved
//   budget.earn();                              // with each request
//   if (failed && budget.spend()) ask_again();
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::http {

class retry_budget {
 public:
  retry_budget(unsigned percent, unsigned most_saved) noexcept
      : percent_{percent}, most_{std::uint64_t{most_saved} * whole}, saved_{most_} {}

  void earn() noexcept { saved_ = std::min(saved_ + percent_, most_); }
  /// False: there is none left.
  [[nodiscard]] bool spend() noexcept {
    if (saved_ < whole) return false;
    saved_ -= whole;
    return true;
  }

 private:
  static constexpr std::uint64_t whole = 100;
  std::uint64_t percent_;
  std::uint64_t most_;
  std::uint64_t saved_;
};

}  // namespace weft::http

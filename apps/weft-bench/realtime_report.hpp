// What `weft-bench realtime` has found, as text, as JSON and as a page.
//
//   print(stdout, to_text(found));
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "background_load.hpp"
#include "wakeup_run.hpp"

namespace weft::bench {

/// One run of each.
struct wakeup_round {
  wakeup_run weft;
  std::optional<telemetry::distribution> cyclictest;
};

/// All that was measured beside one load.
struct wakeup_comparison {
  load_kind load{};
  std::vector<wakeup_round> rounds;

  /// Of all rounds.
  [[nodiscard]] telemetry::distribution weft() const;
  [[nodiscard]] telemetry::distribution cyclictest() const;
  [[nodiscard]] std::int64_t page_faults() const noexcept;
  /// What of weft's wishes took effect: "SCHED_FIFO, priority 80", and what did not.
  [[nodiscard]] std::vector<std::string> wishes(bool applied) const;
  /// weft's 99.99th percentile by cyclictest's, of each round, sorted; none without cyclictest.
  [[nodiscard]] std::vector<double> ratios() const;
};

std::string heading_of(const wakeup_plan& plan, const wakeup_comparison& first);
std::string to_text(const wakeup_comparison& found);
/// A line.
std::string to_json(const wakeup_plan& plan, const wakeup_comparison& found);
std::string to_html(const wakeup_plan& plan, const std::vector<wakeup_comparison>& all);

}  // namespace weft::bench

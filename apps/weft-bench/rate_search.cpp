#include "rate_search.hpp"

#include <utility>

namespace weft::bench {
namespace {

// An open loop's replies cannot come faster than a closed one's; but one run may be unlucky.
constexpr double above_closed_loop = 1.1;

bool is_kept(const load_result& result, std::chrono::nanoseconds p99_most) {
  return result.counts.requests != 0 && result.counts.errors.total() == 0 &&
         result.counts.not_2xx() == 0 &&
         result.latency.percentile(99) <= static_cast<std::uint64_t>(p99_most.count());
}

}  // namespace

rate_search_result search_rate(load_plan plan, std::chrono::nanoseconds p99_most,
                               const std::atomic<bool>& stop, load_observer* observer,
                               const std::function<void(const rate_probe&)>& on_probe) {
  rate_search_result found;
  plan.rate = 0;
  const load_result closed = run_load(plan, stop, observer);
  found.served = closed.counts.requests;
  found.interrupted = closed.interrupted;
  if (found.interrupted || found.served == 0) return found;

  rate_bisection rates{static_cast<double>(closed.counts.requests) / closed.seconds *
                       above_closed_loop};
  while (!rates.is_done()) {
    rate_probe probe{.rate = rates.next(), .is_kept = false, .result = {}};
    plan.rate = probe.rate;
    probe.result = run_load(plan, stop, observer);
    if (probe.result.interrupted) {
      found.interrupted = true;
      break;
    }
    probe.is_kept = is_kept(probe.result, p99_most);
    rates.tell(probe.rate, probe.is_kept);
    on_probe(probe);
    found.probes.push_back(std::move(probe));
  }
  found.most = rates.best();
  return found;
}

}  // namespace weft::bench

// All instruments of a program, by name: where shards get theirs, and readers their snapshots.
//
// Problem: each shard counts for itself, without a lock; whoever looks wants one number. Contract:
// a registry has one meter a shard. read() and add_source() may be called from any thread at any
// time; they wait for no shard, and no shard's add() waits for them. There are at most
// `series_max` series, each taking 8 bytes a shard that uses it, and at most `histograms_max`
// histograms, each 34 KiB a shard. What goes beyond, or is named wrongly, is refused: the log says
// why, `telemetry_series_refused_total` counts it, and the instrument works but is read by nobody,
// so that a program never ends for its statistics. The registry outlives its meters' users.
//
//   telemetry::registry metrics{{.shards = 4}};
//   auto requests = metrics.shard(0).counter("http_requests_total", "Requests answered");
//   requests.add();
//   metrics.read().find("http_requests_total")->value;  // 1
#pragma once

#include <cstddef>
#include <memory>

#include <weft/base/unique_function.hpp>
#include <weft/telemetry/meter.hpp>
#include <weft/telemetry/snapshot.hpp>

namespace weft::telemetry {

struct registry_options {
  unsigned shards = 1;
  std::size_t series_max = 4096;
  std::size_t histograms_max = 256;
};

/// Numbers kept elsewhere: adds its series to a snapshot that is being taken.
using source = unique_function<void(snapshot& into)>;

/// Keeps a source in its registry, which it must not outlive; when it is gone, the source does not
/// run any more. Any thread.
class source_registration {
 public:
  source_registration() noexcept = default;
  source_registration(source_registration&& other) noexcept;
  source_registration& operator=(source_registration&& other) noexcept;
  ~source_registration();

 private:
  friend class registry;
  source_registration(detail::catalogue& keeper, std::size_t number) noexcept
      : keeper_{&keeper}, number_{number} {}
  detail::catalogue* keeper_ = nullptr;
  std::size_t number_ = 0;
};

class registry {
 public:
  explicit registry(registry_options options = {});
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;
  ~registry();

  /// The meter of shard `index`, which is one of `registry_options::shards`.
  [[nodiscard]] meter& shard(unsigned index) noexcept;

  /// Everything there is, now. Any thread.
  [[nodiscard]] snapshot read() const;

  /// `add_series` is called by each read(), on its thread and under the registry's lock: it must
  /// neither register nor read. Any thread.
  [[nodiscard]] source_registration add_source(source add_series);

 private:
  std::unique_ptr<detail::catalogue> catalogue_;
};

}  // namespace weft::telemetry

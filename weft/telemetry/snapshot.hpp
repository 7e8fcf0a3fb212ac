// What all instruments of a program said at one time, as plain data.
//
// Contract: series are ordered by name, then by labels, and merged over the shards. Each number was
// read by itself while its shard ran on, so two of them need not fit each other to the last event;
// a later snapshot never shows less of a counter. Belongs to whoever took it.
//
//   const telemetry::snapshot seen = metrics.read();
//   if (const auto* latency = seen.find("http_request_duration_ns"))
//     show(latency->values.percentile(99.9));
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/telemetry/distribution.hpp>

namespace weft::telemetry {

/// What tells the series of one name apart: {"method", "GET"}. The name is [a-zA-Z_][a-zA-Z0-9_]*,
/// the value any UTF-8.
struct label {
  std::string_view name;
  std::string_view value;
};

enum class series_kind : std::uint8_t { counter, gauge, histogram };

/// "counter", "gauge" or "histogram". Static storage.
[[nodiscard]] std::string_view to_string(series_kind kind) noexcept;

struct series {
  std::string name;
  std::string help;
  std::vector<std::pair<std::string, std::string>> labels;  // ordered by name
  series_kind kind = series_kind::counter;
  /// Over all shards: the sum; of a histogram, how many values.
  std::int64_t value = 0;
  /// The same of each shard: where the sum says little, as with a gauge, or the load is uneven.
  std::vector<std::int64_t> by_shard;
  /// A histogram's values; none for others.
  distribution values;
};

struct snapshot {
  std::vector<series> all;

  /// nullptr if there is none. The labels are all of the series', in any order.
  [[nodiscard]] const series* find(std::string_view name,
                                   std::initializer_list<label> labels = {}) const;
};

}  // namespace weft::telemetry

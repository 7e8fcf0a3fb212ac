// Which series there are, and where each shard keeps its part of them. Internal to telemetry.
//
// Contract: a cell that was given out stays where it is as long as the catalogue lives. The cells
// of a shard lie together, apart from those of any other, so that no two shards write to one cache
// line. All functions but shard() lock, and may be called from any thread.
//
//   catalogue all{{.shards = 2}};
//   cell& served = all.number(0, {series_kind::counter, "served_total", "Requests served", {}});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/telemetry/instruments.hpp>
#include <weft/telemetry/meter.hpp>
#include <weft/telemetry/registry.hpp>
#include <weft/telemetry/snapshot.hpp>

namespace weft::telemetry::detail {

/// What an instrument is asked for by.
struct declaration {
  series_kind kind;
  std::string_view name;
  std::string_view help;
  std::initializer_list<label> labels;
};

class catalogue {
 public:
  explicit catalogue(registry_options options);
  catalogue(const catalogue&) = delete;
  catalogue& operator=(const catalogue&) = delete;
  ~catalogue();

  [[nodiscard]] meter& shard(unsigned index) noexcept;

  /// Shard `shard`'s cell of a counter or gauge; what is refused gets one that nobody reads.
  [[nodiscard]] cell& number(unsigned shard, const declaration& wanted);
  [[nodiscard]] histogram_cells& values(unsigned shard, const declaration& wanted);

  [[nodiscard]] snapshot read() const;

  std::size_t add_source(source add_series);
  void remove_source(std::size_t number);

 private:
  using label_texts = std::vector<std::pair<std::string, std::string>>;
  /// One series: the parts of the shards that use it, nullptr for the others.
  struct entry {
    label_texts labels;
    std::vector<cell*> numbers;
    std::vector<histogram_cells*> values;
  };
  /// All series of one name.
  struct family {
    std::string name;
    std::string help;
    series_kind kind;
    std::vector<entry> entries;
  };
  class store;

  [[nodiscard]] entry* find_or_add(const declaration& wanted, std::string& refusal);
  [[nodiscard]] family* find_or_add_family(const declaration& wanted, std::string& refusal);
  [[nodiscard]] std::string no_room_for(const declaration& wanted) const;
  [[nodiscard]] series read(const family& of, const entry& from) const;
  void refuse(const std::string& why);

  registry_options options_;
  std::vector<std::unique_ptr<store>> stores_;  // one a shard
  mutable std::mutex mutex_;
  // All under mutex_.
  std::vector<std::unique_ptr<family>> families_;
  std::size_t series_ = 0;
  std::size_t histograms_ = 0;
  std::uint64_t refused_ = 0;
  std::vector<std::pair<std::size_t, std::unique_ptr<source>>> sources_;  // with their numbers
  mutable std::size_t last_size_ = 0;  // of a snapshot: the next one takes its room at once
  std::size_t next_source_ = 1;
};

}  // namespace weft::telemetry::detail

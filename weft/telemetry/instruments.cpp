#include <weft/telemetry/instruments.hpp>

#include <weft/telemetry/distribution.hpp>

namespace weft::telemetry::detail {

// Most buckets are empty: those of a cache line are skipped together.
void histogram_cells::read_into(distribution& into) const {
  constexpr std::size_t together = 8;
  static_assert(buckets::count % together == 0);
  for (std::size_t begin = 0; begin < counts.size(); begin += together) {
    std::array<std::uint64_t, together> read;
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < together; ++i) any |= read[i] = counts[begin + i].get();
    if (any == 0) continue;
    for (std::size_t i = 0; i < together; ++i) into.add_bucket(begin + i, read[i]);
  }
  into.add_totals(sum.get(), max.get());
}

}  // namespace weft::telemetry::detail

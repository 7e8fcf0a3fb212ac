#include <weft/telemetry/instruments.hpp>

#include <weft/telemetry/distribution.hpp>

namespace weft::telemetry::detail {

void histogram_cells::read_into(distribution& into) const {
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket)
    into.add_bucket(bucket, counts[bucket].get());
  into.add_totals(sum.get(), max.get());
}

}  // namespace weft::telemetry::detail

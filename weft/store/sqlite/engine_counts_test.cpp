#include <weft/store/sqlite/engine_counts.hpp>

#include <cstddef>

#include <gtest/gtest.h>

#include <weft/telemetry/registry.hpp>

namespace weft::store::sqlite {
namespace {

std::int64_t failures_of(const telemetry::registry& metrics, failure_kind kind) {
  const telemetry::snapshot seen = metrics.read();
  const auto* const found = seen.find("store_failures_total", {{"kind", to_string(kind)}});
  return found == nullptr ? -1 : found->value;
}

TEST(engine_counts, tells_failures_apart_by_kind) {
  telemetry::registry metrics{{.shards = 1}};
  engine_counts counts{metrics.shard(0)};
  counts.failed(failure_kind::busy);
  counts.failed(failure_kind::busy);
  counts.failed(failure_kind::other);
  for (std::size_t i = 0; i < failure_kinds; ++i) {
    const auto kind = static_cast<failure_kind>(i);
    const int expected = kind == failure_kind::busy ? 2 : kind == failure_kind::other ? 1 : 0;
    EXPECT_EQ(failures_of(metrics, kind), expected) << to_string(kind);
  }
}

TEST(engine_counts, counts_on_when_it_is_made_anew) {
  telemetry::registry metrics{{.shards = 1}};
  engine_counts{metrics.shard(0)}.failed(failure_kind::full);
  engine_counts{metrics.shard(0)}.failed(failure_kind::full);
  EXPECT_EQ(failures_of(metrics, failure_kind::full), 2);
}

}  // namespace
}  // namespace weft::store::sqlite

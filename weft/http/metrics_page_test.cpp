#include <weft/http/metrics_page.hpp>

#include <gtest/gtest.h>

#include <string>

#include <weft/telemetry/prometheus.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

class metrics_page_test : public testing::in_memory {};

TEST_F(metrics_page_test, shows_what_all_shards_count) {
  telemetry::registry metrics{{.shards = 2}};
  for (unsigned shard = 0; shard < 2; ++shard)
    metrics.shard(shard).counter("pings_total", "Pings answered").add(shard + 1);
  const metrics_page page{{.path = "/numbers"}, http(), metrics};
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const auto answer = co_await client.ask("GET", "/numbers");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.field("content-type"), telemetry::prometheus_content_type);
    EXPECT_NE(answer.body.find("# TYPE pings_total counter\n"), std::string::npos) << answer.body;
    EXPECT_NE(answer.body.find("\npings_total 3\n"), std::string::npos) << answer.body;
  });
}

}  // namespace
}  // namespace weft::http

// Graphs of many services: made, started, stopped and ended without recursion, and each service at
// the same price however many there are. tests/system/test_container_growth.py counts the price.
#include <weft/service/container.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/manual_scheduler.hpp>
#include <weft/coro/scope.hpp>

namespace {

using weft::container;
using weft::service_handle;

/// WEFT_SERVICES, or a million where the build is optimised.
std::size_t services_wanted() {
  if (const char* const given = std::getenv("WEFT_SERVICES")) return std::stoul(given);
#ifdef NDEBUG
  return 1'000'000;
#else
  return 20'000;
#endif
}

struct tally {
  std::size_t started = 0;
  std::size_t stopped = 0;
  std::size_t ended = 0;
  bool in_order = true;
};

struct node {
  virtual ~node() = default;
  std::size_t number = 0;
};

/// Notes whether it starts after, and stops and ends before, all that were made earlier.
class grown : public node {
 public:
  explicit grown(tally& all) : all_{all} {}
  grown(const grown&) = delete;
  grown& operator=(const grown&) = delete;
  ~grown() override { ++all_.ended; }
  void start() { number = ++all_.started; }
  void stop() {
    all_.in_order = all_.in_order && number == all_.started - all_.stopped;
    ++all_.stopped;
  }

 private:
  tally& all_;
};

struct origin : grown {
  explicit origin(tally& all) : grown{all} {}
};
struct link : grown {
  link(tally& all, node&) : grown{all} {}
};
struct joint : grown {
  joint(tally& all, node&, node&, node&) : grown{all} {}
};

class container_growth : public ::testing::Test {
 protected:
  void SetUp() override {
    services.provide(all);
    made.push_back(services.add<origin>().as<node>().handle());
  }

  void live() {
    weft::scope alone{weft::environment{.runs_on = &scheduler}};
    const auto life = [](container& of) -> weft::task<void> {
      EXPECT_TRUE(co_await of.start());
      EXPECT_TRUE(co_await of.stop());
    };
    alone.spawn(life(services));
    scheduler.run();
    EXPECT_EQ(alone.active(), 0U);
    EXPECT_EQ(all.started, wanted);
    EXPECT_EQ(all.stopped, wanted);
    EXPECT_TRUE(all.in_order);
  }

  weft::manual_scheduler scheduler;
  tally all;
  container services;
  std::size_t wanted = services_wanted();
  std::vector<service_handle> made;
};

TEST_F(container_growth, fan_in) {
  while (made.size() < wanted)
    made.push_back(services.add<link>().as<node>().bind<node>(made.front()).handle());
  live();
}

TEST_F(container_growth, chain) {
  while (made.size() < wanted)
    made.push_back(services.add<link>().as<node>().bind<node>(made.back()).handle());
  live();
}

/// Each is added before what it needs, so that the first can be made last.
TEST_F(container_growth, chain_against_the_order_of_add) {
  auto upper = services.add<link>();
  upper.as<node>();
  for (std::size_t i = 2; i < wanted; ++i) {
    auto lower = services.add<link>();
    lower.as<node>();
    upper.bind<node>(lower.handle());
    upper = lower;
  }
  upper.bind<node>(made.front());
  live();
}

TEST_F(container_growth, random) {
  std::uint32_t state = 1;
  const auto any = [&] {
    state = state * 1'664'525U + 1'013'904'223U;
    return made[(state >> 8U) % made.size()];
  };
  while (made.size() < wanted)
    made.push_back(services.add<joint>()
                       .as<node>()
                       .bind<node>(any())
                       .bind<node>(any())
                       .bind<node>(any())
                       .handle());
  live();
}

}  // namespace

#include <weft/service/description.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/service/container.hpp>

namespace water_mill {

struct stream {};
struct wheel {
  explicit wheel(stream&) {}
};
struct oil {};
struct sieve {
  virtual ~sieve() = default;
};
struct fine_sieve : sieve {};
struct coarse_sieve : sieve {};
struct clerk {
  explicit clerk(weft::consumer) {}
};
struct miller {
  miller(wheel&, weft::maybe<oil>, weft::many<sieve>, clerk&) {}
};
struct owner {
  explicit owner(weft::named<wheel, "east">) {}
};

}  // namespace water_mill

namespace weft {
namespace {

const service_description& only(const std::vector<service_description>& all,
                                std::string_view type) {
  const auto found = std::ranges::find(all, type, &service_description::type);
  EXPECT_NE(found, all.end()) << type;
  EXPECT_EQ(std::ranges::count(all, type, &service_description::type), 1) << type;
  return *found;
}

std::string graph_of(const container& services) {
  return to_graphviz({{{.shard = 3, .services = services.describe()}}});
}

TEST(container_description, tells_who_would_be_needed_before_anything_is_made) {
  container services;
  services.add<water_mill::wheel>();
  const auto all = services.describe();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(only(all, "weft::container").state, "lent");
  const auto& wheel = only(all, "water_mill::wheel");
  EXPECT_EQ(wheel.state, "waiting");
  EXPECT_EQ(wheel.provides, std::vector<std::string>{"water_mill::wheel"});
  ASSERT_EQ(wheel.needs.size(), 1U);
  EXPECT_EQ(wheel.needs[0].interface, "water_mill::stream");
  EXPECT_EQ(wheel.needs[0].form, "required");
  EXPECT_TRUE(wheel.needs[0].providers.empty());

  services.add<water_mill::stream>();
  const auto both = services.describe();
  EXPECT_EQ(only(both, "water_mill::wheel").needs[0].providers,
            std::vector{only(both, "water_mill::stream").id});
}

TEST(container_description, tells_names_interfaces_and_forms) {
  container services;
  services.add<water_mill::fine_sieve>().as<water_mill::sieve>();
  services.add<water_mill::coarse_sieve>().as<water_mill::sieve>().lazy();
  services.add<water_mill::miller>();
  services.add<water_mill::stream>();
  services.add<water_mill::wheel>().named("east");
  services.add<water_mill::owner>();
  const auto all = services.describe();
  const auto& miller = only(all, "water_mill::miller");
  const auto& fine = only(all, "water_mill::fine_sieve");
  const auto& coarse = only(all, "water_mill::coarse_sieve");
  const auto& wheel = only(all, "water_mill::wheel");
  EXPECT_EQ(fine.provides, std::vector<std::string>{"water_mill::sieve"});
  EXPECT_EQ(coarse.state, "lazy");
  EXPECT_EQ(wheel.name, "east");
  ASSERT_EQ(miller.needs.size(), 4U);
  EXPECT_EQ(miller.needs[0].providers, std::vector{wheel.id}) << "the only one there is";
  EXPECT_EQ(miller.needs[1].form, "optional");
  EXPECT_TRUE(miller.needs[1].providers.empty());
  EXPECT_EQ(miller.needs[2].form, "many");
  EXPECT_EQ(miller.needs[2].providers, (std::vector{fine.id, coarse.id}));
  const auto& owner = only(all, "water_mill::owner");
  EXPECT_EQ(owner.needs[0].form, "named");
  EXPECT_EQ(owner.needs[0].name, "east");
  EXPECT_EQ(owner.needs[0].providers, std::vector{wheel.id});
}

TEST(container_description, follows_a_service_through_its_states) {
  const auto loop = event_loop::create({.backend = backend_kind::simulated});
  ASSERT_TRUE(loop);
  water_mill::oil oil;
  container services;
  services.provide(oil);
  services.add<water_mill::clerk>().per_consumer();
  services.add<water_mill::stream>();
  services.add<water_mill::wheel>();
  const auto miller = services.add<water_mill::miller>().handle();
  (*loop)->spawn([](container& of, service_handle one) -> task<void> {
    EXPECT_TRUE(co_await of.start());
    const auto up = of.describe();
    const auto& works = only(up, "water_mill::miller");
    EXPECT_EQ(works.state, "started");
    EXPECT_EQ(only(up, "water_mill::oil").state, "lent");
    EXPECT_EQ(works.needs[1].providers, std::vector{only(up, "water_mill::oil").id});
    EXPECT_EQ(std::ranges::count(up, "water_mill::clerk", &service_description::type), 2);
    for (const auto& each : up)
      if (each.type == "water_mill::clerk" && each.made_for) {
        EXPECT_EQ(*each.made_for, works.id);
        EXPECT_EQ(works.needs[3].providers, std::vector{each.id});
      } else if (each.type == "water_mill::clerk") {
        EXPECT_EQ(each.state, "per consumer");
      }
    EXPECT_TRUE(co_await of.stop(one));
    const auto down = of.describe();
    EXPECT_EQ(only(down, "water_mill::miller").state, "stopped");
    EXPECT_TRUE(co_await of.stop());
  }(services, miller));
  (*loop)->run();
}

TEST(container_description, is_drawn_with_what_is_missing) {
  container services;
  services.add<water_mill::wheel>().named("a \"wheel\"");
  services.add<water_mill::fine_sieve>().as<water_mill::sieve>();
  services.add<water_mill::oil>();
  services.add<water_mill::clerk>();
  services.add<water_mill::miller>();
  EXPECT_EQ(graph_of(services), R"(digraph weft {
  rankdir=LR;
  node [shape=box];
  subgraph cluster_3 {
    label="shard 3";
    s3_1 [label="water_mill::wheel 'a \"wheel\"'", tooltip="waiting"];
    s3_2 [label="water_mill::fine_sieve", tooltip="waiting"];
    s3_3 [label="water_mill::oil", tooltip="waiting"];
    s3_4 [label="water_mill::clerk", tooltip="waiting"];
    s3_5 [label="water_mill::miller", tooltip="waiting"];
    m0 [label="nobody is water_mill::stream", color=red];
    s3_1 -> m0 [color=red];
    s3_5 -> s3_1;
    s3_5 -> s3_3 [style=dashed];
    s3_5 -> s3_2 [style=dotted];
    s3_5 -> s3_4;
  }
}
)");
}

TEST(container_description, is_written_as_json) {
  container services;
  services.add<water_mill::wheel>();
  EXPECT_EQ(to_json({{{.shard = 1, .services = services.describe()}}}),
            R"({"shards":[{"shard":1,"services":[{"id":0,"type":"weft::container","name":"",)"
            R"("state":"lent","provides":["weft::container"],"needs":[]},)"
            R"({"id":1,"type":"water_mill::wheel","name":"",)"
            R"("state":"waiting","provides":["water_mill::wheel"],"needs":[)"
            R"({"interface":"water_mill::stream",)"
            R"("form":"required","name":"","providers":[]}]}],"tasks":[]}]})");
}

}  // namespace
}  // namespace weft

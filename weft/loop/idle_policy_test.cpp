#include <weft/loop/idle_policy.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

namespace weft {
namespace {

using namespace std::chrono_literals;

TEST(idle_policy, sleeps_unless_told_otherwise) {
  EXPECT_FALSE(idle_policy{}.spins());
  EXPECT_EQ(idle_policy{}, idle_policy::sleep());
  EXPECT_TRUE(idle_policy::spin().spins());
}

TEST(idle_policy, is_read_from_text) {
  const std::vector<std::pair<std::string_view, idle_policy>> cases = {
      {"sleep", idle_policy::sleep()}, {"spin", idle_policy::spin()}, {"spin=1ns", {1ns}},
      {"spin=50us", {50us}},           {"spin=3ms", {3ms}},           {"spin=0050us", {50us}},
      {"spin=1000ms", {1s}},           {"spin=1000000us", {1s}},      {"spin=1000000000ns", {1s}},
  };
  for (const auto& [text, expected] : cases) {
    const auto read = parse_idle(text);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(*read, expected) << text;
  }
}

TEST(idle_policy, refuses_what_it_cannot_mean_and_says_why) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"", "is no way to be idle"},
      {"spn", "is no way to be idle"},
      {"Spin", "is no way to be idle"},
      {"sleep=5us", "is no way to be idle"},
      {"spin50us", "is no way to be idle"},
      {"spin=", "has no whole number after '='"},
      {"spin=us", "has no whole number after '='"},
      {"spin= 5us", "has no whole number after '='"},
      {"spin=+5us", "has no whole number after '='"},
      {"spin=-5us", "has no whole number after '='"},
      {"spin=5", "lacks a unit: ns, us or ms"},
      {"spin=0", "lacks a unit: ns, us or ms"},
      {"spin=5s", "has the unit 's', not ns, us or ms"},
      {"spin=5 us", "has the unit ' us', not ns, us or ms"},
      {"spin=5.5us", "has the unit '.5us', not ns, us or ms"},
      {"spin=5us ", "has the unit 'us ', not ns, us or ms"},
      {"spin=0us", "does not spin at all"},
      {"spin=1001ms", "is more than a second"},
      {"spin=1000001us", "is more than a second"},
      {"spin=1000000001ns", "is more than a second"},
      {"spin=9223372036854775807ms", "is more than a second"},
      {"spin=99999999999999999999us", "is more than a second"},
      {"spin=-99999999999999999999us", "has no whole number after '='"},
  };
  for (const auto& [text, why] : cases) {
    const auto read = parse_idle(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error(), "'" + std::string{text} + "' " + std::string{why} +
                                "; allowed: sleep, spin, spin=TIME (spin=50us, say)");
  }
}

}  // namespace
}  // namespace weft

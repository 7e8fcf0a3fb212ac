// The bounds() of a struct, where it is read from JSON.
#include <weft/base/bounds.hpp>
#include <weft/json/read.hpp>
#include <weft/json/schema.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace member_bounds_test {

struct oven {
  int loaves = 10;
  std::optional<std::uint16_t> minutes;
  std::vector<double> shares;
  std::int64_t below_zero = -7;
  std::string name;
  static constexpr auto bounds() {
    return weft::bounds(weft::within<&oven::loaves>(0, 1000), weft::at_least<&oven::minutes>(5),
                        weft::within<&oven::shares>(0, 1),
                        weft::within<&oven::below_zero>(-10, -5));
  }
};
/// Of the least and the most that their types have.
struct scales {
  std::uint64_t grains = 18446744073709551614U;
  float share = 0.2F;
  static constexpr auto bounds() {
    return weft::bounds(weft::at_least<&scales::grains>(18446744073709551614U),
                        weft::within<&scales::share>(0.1F, 0.3F));
  }
};
struct bakery {
  std::vector<oven> ovens;
};

namespace {

using weft::json::errc;
using weft::json::policy;
using weft::json::read;

constexpr policy lenient{.allow_missing_names = true};

std::string said_of(std::string_view text) {
  const auto got = read<oven, lenient>(text);
  return got ? "good" : got.error().message();
}

TEST(json_member_bounds, hold_for_numbers) {
  EXPECT_EQ(said_of(R"({"loaves":0})"), "good");
  EXPECT_EQ(said_of(R"({"loaves":1000})"), "good");
  EXPECT_EQ(said_of(R"({"loaves":5000})"),
            "/loaves: the number is out of bounds, from 0 to 1000 (byte 10)");
  EXPECT_EQ(said_of(R"({"loaves": -1, "name": ""})"),
            "/loaves: the number is out of bounds, from 0 to 1000 (byte 11)");
  EXPECT_EQ(said_of(R"({"below_zero":-10})"), "good");
  for (const std::string_view text : {"-11", "-4", "0", "4"})
    EXPECT_TRUE(said_of(R"({"below_zero":)" + std::string{text} + "}").contains("from -10 to -5"))
        << text;
}

TEST(json_member_bounds, hold_for_what_is_in_an_optional_or_a_list) {
  EXPECT_EQ(said_of(R"({"minutes":null})"), "good");
  EXPECT_EQ(said_of(R"({"minutes":5})"), "good");
  EXPECT_EQ(said_of(R"({"minutes":4})"),
            "/minutes: the number is out of bounds, from 5 to 65535 (byte 11)");
  EXPECT_EQ(said_of(R"({"shares":[]})"), "good");
  EXPECT_EQ(said_of(R"({"shares":[0, 0.5, 1]})"), "good");
  EXPECT_TRUE(said_of(R"({"shares":[0, 1.5, 1]})").starts_with("/shares: the number is out of"));
}

TEST(json_member_bounds, hold_in_objects_within_others) {
  const auto got = read<bakery, lenient>(R"({"ovens":[{"loaves":1},{"loaves":1001}]})");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::out_of_range);
  EXPECT_EQ(got.error().path, "/ovens/1/loaves");
  EXPECT_EQ(got.error().offset, 33U);
}

TEST(json_member_bounds, are_those_of_the_members_type) {
  const auto said = [](std::string_view text) {
    const auto got = read<scales, lenient>(text);
    return got ? "good" : got.error().message();
  };
  EXPECT_EQ(said(R"({"grains":18446744073709551614,"share":0.1})"), "good");
  EXPECT_EQ(said(R"({"share":0.3})"), "good");
  EXPECT_EQ(said(R"({"grains":18446744073709551613})"),
            "/grains: the number is out of bounds, from 18446744073709551614 to "
            "18446744073709551615 (byte 10)");
  EXPECT_EQ(said(R"({"share":0.09})"),
            "/share: the number is out of bounds, from 0.1 to 0.3 (byte 9)");
  const std::string text = weft::json::schema_text<scales>();
  EXPECT_TRUE(text.contains(R"("minimum":18446744073709551614,"maximum":18446744073709551615)"))
      << text;
  EXPECT_TRUE(text.contains(R"("minimum":0.1,"maximum":0.3)")) << text;
}

TEST(json_member_bounds, stand_in_the_schema) {
  const std::string text = weft::json::schema_text<oven>();
  for (const std::string_view part :
       {R"("loaves":{"type":"integer","minimum":0,"maximum":1000})",
        R"("minutes":{"type":["integer","null"],"minimum":5,"maximum":65535})",
        R"("shares":{"type":"array","items":{"type":"number","minimum":0,"maximum":1}})",
        R"("below_zero":{"type":"integer","minimum":-10,"maximum":-5})"})
    EXPECT_TRUE(text.contains(part)) << part << "\n" << text;
}

}  // namespace
}  // namespace member_bounds_test

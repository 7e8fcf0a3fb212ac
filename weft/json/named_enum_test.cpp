// Enums in JSON: by the names of their enumerators.
#include <weft/json/read.hpp>
#include <weft/json/schema.hpp>
#include <weft/json/write.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/log.hpp>

namespace named_enum_test {

enum class side : std::uint8_t { buy, sell };
enum class lamp : bool { off, on };
enum class mode : std::int8_t { auto_ = 3, manual = 7 };
enum class told : std::uint16_t { once = 1 };
/// No value of it is from 0 to 63.
enum class port : std::uint16_t { http = 80, https = 443 };
/// Without a fixed type, not every number may be cast to it.
enum plain { first, second };  // NOLINT(cppcoreguidelines-use-enum-class)
/// What glaze has been told by hand.
enum class foreign : std::uint8_t { a, b };

template <class T>
struct holds {
  T a;
};

}  // namespace named_enum_test

template <>
struct glz::meta<named_enum_test::foreign> {
  static constexpr auto value =
      enumerate("A", named_enum_test::foreign::a, "B", named_enum_test::foreign::b);
};

namespace named_enum_test {
namespace {

using weft::json::errc;
using weft::json::read;

template <class T>
std::string written(const T& value) {
  std::string text;
  weft::json::write(holds<T>{value}, text);
  return text;
}
template <class T>
errc code_of(std::string_view text) {
  const auto got = read<holds<T>>(text);
  return got ? errc{} : got.error().code;
}

TEST(json_named_enum, is_the_name_of_its_enumerator) {
  EXPECT_EQ(written(side::sell), R"({"a":"sell"})");
  EXPECT_EQ(read<holds<side>>(R"({"a":"sell"})")->a, side::sell);
  EXPECT_EQ(read<holds<side>>(R"({ "a" : "buy" })")->a, side::buy);
  EXPECT_EQ(read<holds<side>>(R"({"a":"\u0062uy"})")->a, side::buy);
  EXPECT_EQ(written(lamp::on), R"({"a":"on"})");
  EXPECT_EQ(read<holds<lamp>>(R"({"a":"on"})")->a, lamp::on);
  EXPECT_EQ(written(mode::auto_), R"({"a":"auto"})");
  EXPECT_EQ(read<holds<mode>>(R"({"a":"auto"})")->a, mode::auto_);
}

TEST(json_named_enum, is_so_wherever_it_stands) {
  EXPECT_EQ(written(std::vector{side::buy, side::sell}), R"({"a":["buy","sell"]})");
  EXPECT_EQ(read<holds<std::vector<side>>>(R"({"a":["buy", "sell"]})")->a.at(1), side::sell);
  EXPECT_EQ(written(std::optional{side::buy}), R"({"a":"buy"})");
  EXPECT_EQ(read<holds<std::optional<side>>>(R"({"a":"sell"})")->a, side::sell);
  EXPECT_EQ(read<holds<std::optional<side>>>(R"({"a":null})")->a, std::nullopt);
  using by_name = std::map<std::string, side>;
  EXPECT_EQ(written(by_name{{"x", side::sell}}), R"({"a":{"x":"sell"}})");
  EXPECT_EQ(read<holds<by_name>>(R"({"a":{"x":"sell"}})")->a.at("x"), side::sell);
  EXPECT_EQ(read<std::vector<side>>(R"(["sell"])")->at(0), side::sell);
  EXPECT_EQ((read<holds<std::array<side, 2>>>(R"({"a":["sell","buy"]})")->a[0]), side::sell);
}

TEST(json_named_enum, refuses_what_is_none_of_them) {
  for (const std::string_view text :
       {R"({"a":"hold"})", R"({"a":""})", R"({"a":"Buy"})", R"({"a":"buy "})", R"({"a":77})",
        R"({"a":2})", R"({"a":-1})", R"({"a":256})", R"({"a":1.5})"})
    EXPECT_NE(code_of<side>(text), errc{}) << text;
  EXPECT_EQ(code_of<side>(R"({"a":77})"), errc::invalid_value);
  EXPECT_EQ(code_of<side>(R"({"a":true})"), errc::wrong_type);
  EXPECT_EQ(code_of<side>(R"({"a":"bu)"), errc::truncated);
  const auto refused = read<holds<std::vector<side>>>(R"({"a":["buy","hold"]})");
  EXPECT_EQ(refused.error().message(), "/a/1: this value is not one of those allowed (byte 12)");
}

TEST(json_named_enum, takes_the_number_of_an_enumerator_and_warns_once) {
  static std::vector<std::string> logged;
  weft::log::set_sink(
      [](weft::log::level, std::string_view text, void*) { logged.emplace_back(text); }, nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read<holds<told>>(R"({"a":1})")->a, told::once);
  weft::log::set_sink(nullptr, nullptr);
  ASSERT_EQ(logged.size(), 1U);
  EXPECT_TRUE(logged[0].contains("told")) << logged[0];
  EXPECT_TRUE(logged[0].contains("\"once\"")) << logged[0];
}

TEST(json_named_enum, leaves_others_as_they_are) {
  EXPECT_EQ(written(port::https), R"({"a":443})");
  EXPECT_EQ(read<holds<port>>(R"({"a":443})")->a, port::https);
  EXPECT_EQ(written(second), R"({"a":1})");
  EXPECT_EQ(read<holds<plain>>(R"({"a":1})")->a, second);
  EXPECT_EQ(written(foreign::b), R"({"a":"B"})");
  EXPECT_EQ(read<holds<foreign>>(R"({"a":"B"})")->a, foreign::b);
}

/// A value without a name is the program's fault, and JSON all the same.
TEST(json_named_enum, writes_the_number_of_what_has_no_name) {
  EXPECT_EQ(written(static_cast<side>(9)), R"({"a":9})");
}

TEST(json_named_enum, has_its_names_in_the_schema) {
  const std::string text = weft::json::schema_text<holds<side>>();
  EXPECT_TRUE(text.contains(R"("a":{"type":"string","enum":["buy","sell"]})")) << text;
  const std::string optional = weft::json::schema_text<holds<std::optional<side>>>();
  EXPECT_TRUE(optional.contains(R"({"type":["string","null"],"enum":["buy","sell",null]})"))
      << optional;
}

}  // namespace
}  // namespace named_enum_test

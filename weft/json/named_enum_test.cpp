// Enums in JSON: by the names of their enumerators.
#include <weft/json/read.hpp>
#include <weft/json/schema.hpp>
#include <weft/json/write.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include <weft/base/log.hpp>

namespace named_enum_test {

enum class side : std::uint8_t { buy, sell };
enum class lamp : bool { off, on };
enum class mode : std::int8_t { auto_ = 3, manual = 7 };
enum class told : std::uint16_t { once = 1 };
enum class port : std::uint16_t { http = 80, https = 443 };
enum class level : int { none = 0, low = 1, high = 100 };   // NOLINT(performance-enum-size)
enum class state : std::int32_t { unknown = -1, off, on };  // NOLINT(performance-enum-size)
enum class letter : char { a = 'a', b = 'b' };
/// Without a fixed type, not every number may be cast to it.
enum plain { first, second };  // NOLINT(cppcoreguidelines-use-enum-class)
/// Beyond the default range.
enum class far : std::uint16_t { near = 5000, away = 8080 };
enum class id : std::int64_t {};
template <class T>
struct inside {
  enum class of : std::uint16_t { one = 1, many = 600 };
};
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

template <>
inline constexpr weft::enumerator_range weft::enum_range<named_enum_test::far>{80, 8080};
template <>
inline constexpr weft::enumerator_range weft::enum_range<named_enum_test::id> =
    weft::enum_is_number;

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

template <class T>
void expect_name(T value, std::string_view name, int number) {
  const std::string text = std::string{R"({"a":")"}.append(name).append(R"("})");
  EXPECT_EQ(written(value), text);
  ASSERT_TRUE(read<holds<T>>(text)) << text;
  EXPECT_EQ(read<holds<T>>(text)->a, value);
  const auto by_number = read<holds<T>>(R"({"a":)" + std::to_string(number) + "}");
  ASSERT_TRUE(by_number) << name;
  EXPECT_EQ(by_number->a, value);
  EXPECT_EQ(code_of<T>(R"({"a":77})"), errc::invalid_value) << name;
  EXPECT_TRUE(weft::json::schema_text<holds<T>>().contains(name)) << name;
}

TEST(json_named_enum, has_the_names_of_all_values) {
  expect_name(level::none, "none", 0);
  expect_name(level::high, "high", 100);
  expect_name(state::unknown, "unknown", -1);
  expect_name(state::on, "on", 1);
  expect_name(port::https, "https", 443);
  expect_name(letter::b, "b", 'b');
  expect_name(second, "second", 1);
  expect_name(far::away, "away", 8080);
  expect_name(inside<int>::of::many, "many", 600);
}

/// What is_covered() refuses does not compile in JSON.
TEST(json_named_enum, knows_an_enum_of_which_names_are_missing) {
  enum class only_beyond : std::uint16_t { a = 10'000 };
  enum class some_beyond : std::uint32_t { a, b = 1U << 20U };  // NOLINT(performance-enum-size)
  enum class limit : std::int32_t { least = std::numeric_limits<std::int32_t>::min(), zero = 0 };
  enum class nothing : std::int32_t {};  // NOLINT(performance-enum-size)
  enum class code : std::uint16_t { ok = 200, internal = 700 };
  enum class last : std::int64_t { none, all = std::numeric_limits<std::int64_t>::max() };
  enum class thousand : std::uint16_t { a = 1, b = 1000 };
  static_assert(!weft::detail::is_covered<code>());
  static_assert(!weft::detail::is_covered<last>());
  static_assert(!weft::detail::is_covered<thousand>());
  static_assert(!weft::detail::is_covered<only_beyond>());
  static_assert(!weft::detail::is_covered<some_beyond>());
  static_assert(!weft::detail::is_covered<limit>());
  static_assert(!weft::detail::is_covered<nothing>());
  static_assert(weft::detail::is_covered<far>());
}

TEST(json_named_enum, leaves_others_as_they_are) {
  EXPECT_EQ(written(id{443}), R"({"a":443})");
  EXPECT_EQ(read<holds<id>>(R"({"a":443})")->a, id{443});
  EXPECT_EQ(written(foreign::b), R"({"a":"B"})");
  EXPECT_EQ(read<holds<foreign>>(R"({"a":"B"})")->a, foreign::b);
}

template <class Variant>
void expect_choice(std::string_view value, Variant expected) {
  const std::string text = std::string{R"({"a":)"}.append(value).append("}");
  const auto got = read<holds<Variant>>(text);
  ASSERT_TRUE(got) << text << ": " << got.error().message();
  EXPECT_EQ(got->a, expected) << text;
}

TEST(json_named_enum, is_an_alternative_of_a_variant) {
  using std::variant;
  expect_choice<variant<int, side>>(R"("sell")", side::sell);
  expect_choice<variant<int, side>>("1", 1);
  expect_choice<variant<side, int>>(R"("sell")", side::sell);
  expect_choice<variant<side, int>>(" 1", 1);
  expect_choice<variant<double, side>>(R"("sell")", side::sell);
  expect_choice<variant<side, int, double>>("1", 1);
  expect_choice<variant<side, bool>>(R"("buy")", side::buy);
  expect_choice<variant<side, bool>>("true", true);
  expect_choice<variant<side, bool>>("1", side::sell);
  expect_choice<variant<side, std::vector<int>>>(R"("sell")", side::sell);
  expect_choice<variant<side, std::vector<int>>>("[1, 2]", std::vector{1, 2});
  expect_choice<variant<side, std::string>>(R"("sell")", side::sell);
  expect_choice<variant<side, std::string>>(R"("sold")", std::string{"sold"});
  expect_choice<variant<side, std::string>>("1", side::sell);
  expect_choice<variant<side, std::string, int>>("1", 1);
  expect_choice<variant<std::string, side>>(R"("sell")", std::string{"sell"});
  expect_choice<variant<side, lamp>>(R"("on")", lamp::on);
  expect_choice<variant<std::monostate, side>>("null", std::monostate{});
  expect_choice<variant<std::monostate, side>>(R"("buy")", side::buy);
  using several = variant<int, side, int>;
  EXPECT_EQ(read<holds<several>>(R"({"a":"sell"})")->a.index(), 1U);
  using list = std::vector<variant<int, side>>;
  EXPECT_EQ(written(*read<list>(R"([1, "buy", 2])")), R"({"a":[1,"buy",2]})");
}

TEST(json_named_enum, is_not_whatever_else_fits_no_alternative) {
  using choice = std::variant<int, side>;
  EXPECT_EQ(code_of<choice>(R"({"a":"hold"})"), errc::invalid_value);
  EXPECT_NE(code_of<choice>(R"({"a":true})"), errc{});
  EXPECT_EQ(code_of<choice>(R"({"a":"sell)"), errc::truncated);
  EXPECT_EQ(code_of<choice>(R"({"a":99999999999})"), errc::out_of_range);
  EXPECT_EQ(code_of<choice>(R"({"a":-})"), errc::syntax);
  using texts = std::variant<side, std::string>;
  EXPECT_EQ(code_of<texts>(R"({"a":77})"), errc::invalid_value);
  EXPECT_EQ(code_of<texts>("{\"a\":\"\xff\"}"), errc::invalid_utf8);
}

TEST(json_named_enum, is_the_key_of_a_map) {
  using prices = std::map<side, int>;
  const prices both{{side::buy, 1}, {side::sell, 2}};
  EXPECT_EQ(written(both), R"({"a":{"buy":1,"sell":2}})");
  EXPECT_EQ(read<holds<prices>>(R"({"a":{"buy" : 1, "sell":2}})")->a, both);
  EXPECT_EQ(code_of<prices>(R"({"a":{"hold":1}})"), errc::invalid_value);
  EXPECT_EQ(code_of<prices>(R"({"a":{"1":1}})"), errc::invalid_value);
  EXPECT_EQ(code_of<prices>(R"({"a":{"buy":1,"buy":2}})"), errc::duplicate_key);
  EXPECT_EQ(written(std::unordered_map<side, int>{{side::buy, 1}}), R"({"a":{"buy":1}})");
  const std::string schema = weft::json::schema_text<prices>();
  EXPECT_TRUE(schema.contains(
      R"("type":"object","propertyNames":{"enum":["buy","sell"]},"additionalProperties":)"))
      << schema;
  using names = std::map<id, std::string>;
  EXPECT_EQ(written(names{{id{7}, "x"}}), R"({"a":{"7":"x"}})");
  EXPECT_EQ(read<holds<names>>(R"({"a":{"7":"x"}})")->a.at(id{7}), "x");
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

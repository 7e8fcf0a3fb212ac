#include <weft/json/lent.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::string_view_literals;
using weft::json::lent_scalar;
using weft::json::lent_text;
using weft::json::read_lent;
using weft::json::scalar_kind;

struct lent_filter {
  lent_text column;
  lent_scalar value;
};
struct lent_filters {
  std::vector<lent_filter> filters;
  std::optional<lent_text> id;
};

/// What a string of JSON, with its quotes, is decoded to; "!" and why not.
std::string decoded(std::string_view text) {
  std::string keeper;
  lent_text value;
  const auto done = read_lent(value, text, keeper);
  return done ? std::string{value.view()} : "!" + done.error().message();
}

std::string scalar(std::string_view text) {
  std::string keeper;
  lent_scalar value;
  const auto done = read_lent(value, text, keeper);
  return done ? std::to_string(static_cast<int>(value.kind())) + std::string{value.view()}
              : "!" + done.error().message();
}

TEST(json_lent, lends_strings_and_scalars_of_a_document) {
  std::string keeper;
  lent_filters given;
  const auto done = read_lent(
      given,
      R"({"filters": [ {"column":"a","value": 1.50} , {"value":"x\ty", "column" : "b"} ],)"
      R"( "id":null})",
      keeper);
  ASSERT_TRUE(done.has_value()) << done.error().message();
  ASSERT_EQ(given.filters.size(), 2U);
  EXPECT_EQ(given.filters[0].column.view(), "a");
  EXPECT_EQ(given.filters[0].value.view(), "1.50");
  EXPECT_EQ(given.filters[0].value.kind(), scalar_kind::number);
  EXPECT_EQ(given.filters[1].column.view(), "b");
  EXPECT_EQ(given.filters[1].value.view(), "x\ty");
  EXPECT_FALSE(given.id.has_value());
  EXPECT_GE(given.filters[0].column.view().data(), keeper.data());
}

TEST(json_lent, decodes_escapes) {
  EXPECT_EQ(decoded(R"("")"), "");
  EXPECT_EQ(decoded(R"("plain")"), "plain");
  EXPECT_EQ(decoded(R"("a rather long text, longer than a word")"),
            "a rather long text, longer than a word");
  EXPECT_EQ(decoded(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(decoded(R"("12345678\u0041\u00e9\u20AC\ud83d\ude00 and on")"), "12345678Aé€😀 and on");
  EXPECT_EQ(decoded(R"("\u0000!")"), "\0!"sv);
  EXPECT_EQ(decoded("\"κόσμε\""), "κόσμε");
}

TEST(json_lent, refuses_what_is_no_string) {
  for (const std::string_view bad :
       {R"("\x")", R"("\u12g4")", R"("\ud800")", R"("\udc00")", R"("\ud800\u0041")", R"("open)",
        R"("open\)", R"("\u00)", "\"a\nb\"", "\"a\0b\"", "\"\xff\"", "\"\\n\xc3\"", "12", "{}"}) {
    EXPECT_TRUE(decoded(bad).starts_with('!')) << bad << " is " << decoded(bad);
  }
}

TEST(json_lent, tells_scalars_as_they_are_written) {
  EXPECT_FALSE(lent_scalar{}.is_given());
  EXPECT_EQ(scalar("null"), "0null");
  EXPECT_EQ(scalar(" true "), "1true");
  EXPECT_EQ(scalar("false"), "1false");
  for (const std::string number :
       {"0", "-0", "17", "-1.50", "1e5", "0.1E-7", "18446744073709551616"})
    EXPECT_EQ(scalar(number), "2" + number);
  EXPECT_EQ(scalar(R"("1\u0031")"), "311");
}

TEST(json_lent, refuses_what_is_no_scalar) {
  for (const std::string_view bad : {"", "01", "+1", "-", "1.", ".5", "1e", "1e+", "nul", "nulll",
                                     "True", "NaN", "[1]", "{}", "1 2"})
    EXPECT_TRUE(scalar(bad).starts_with('!')) << bad << " is " << scalar(bad);
}

TEST(json_lent, says_where_a_document_is_wrong) {
  std::string keeper;
  lent_filters given;
  const auto done = read_lent(given, R"({"filters":[{"column":"\u0041\"","value":{}}]})", keeper);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().path.view(), "/filters/0/value");
}

}  // namespace

#include <weft/json/read.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace {

using namespace std::string_view_literals;
using weft::json::errc;
using weft::json::error;
using weft::json::policy;
using weft::json::read;

struct ping {
  std::int64_t sequence;
};
struct item {
  std::string name;
  double price;
};
struct order {
  std::int32_t id;
  std::optional<std::string> note;
  std::vector<item> items;
};
struct tree {
  std::vector<tree> nodes;
};
template <class T>
struct holds {
  T a;
};

// What reading `text` as T ends with; 0 when it succeeds.
template <class T>
errc code_of(std::string_view text) {
  const auto result = read<T>(text);
  return result ? errc{} : result.error().code;
}

// Of each length, with what is not plain at each place, near the end of the text and far from it.
TEST(json_read, takes_strings_plain_or_not) {
  struct mark {
    std::string_view written;
    std::optional<std::string_view> read;
  };
  for (const mark& each :
       {mark{"", ""}, mark{"\\n", "\n"}, mark{"\\\"", "\""}, mark{"\\\\", "\\"},
        mark{"\\u00e9", "\u00e9"}, mark{"\u00e9", "\u00e9"}, mark{"\u20ac", "\u20ac"},
        mark{"\x7f", "\x7f"}, mark{"\xff", std::nullopt}, mark{"\x80", std::nullopt},
        mark{"\n", std::nullopt}, mark{"\x1f", std::nullopt}, mark{"\\x", std::nullopt},
        mark{"\"", std::nullopt}})
    for (std::size_t length = 0; length <= 40; ++length)
      for (std::size_t place = 0; place <= length; ++place) {
        const std::string before(place, 'a');
        const std::string after(length - place, 'b');
        for (const std::string_view behind : {"", "             "}) {
          std::string text = "{\"a\":\"" + before;
          text.append(each.written).append(after).append("\"}").append(behind);
          const auto got = read<holds<std::string>>(text);
          ASSERT_EQ(got.has_value(), each.read.has_value()) << text;
          if (each.read) ASSERT_EQ(got->a, before + std::string{*each.read} + after) << text;
        }
      }
}

// Of each length and kind, wherever it may stand, near the end of the text and far from it.
TEST(json_read, skips_white_space_and_nothing_else) {
  const auto filled = [](const std::string& run) {
    return run + "[" + run + R"({"a")" + run + ":" + run + "1" + run + "}" + run + "," + run +
           R"({"a":2})" + run + "]" + run;
  };
  for (const char first : {' ', '\n', '\r', '\t', '\v', '\f', '\x1f', '\xa0', '\x80', '\0'})
    for (const char rest : {' ', '\n', '\t', '\v', '\xa0', '!'})
      for (std::size_t length = 0; length <= 40; ++length) {
        std::string run(length, rest);
        if (length != 0) run[0] = first;
        const std::string_view white = " \n\r\t";
        const bool is_white = run.find_first_not_of(white) == std::string::npos;
        const auto got = read<std::vector<holds<int>>>(filled(run));
        ASSERT_EQ(got.has_value(), is_white) << length << " of " << int{first} << ", " << int{rest};
        if (is_white) ASSERT_EQ(got->at(0).a + got->at(1).a, 3);
      }
}

struct two_bools {
  bool a;
  bool b;
};

constexpr errc good{};

TEST(json_read, fills_an_aggregate_by_the_names_of_its_members) {
  const auto result = read<order>(
      R"( {"items": [{"name": "a\u00e9\n", "price": 1.5}, {"price": 2, "name": ""}], "id": -7} )");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->id, -7);
  EXPECT_EQ(result->note, std::nullopt);
  ASSERT_EQ(result->items.size(), 2U);
  EXPECT_EQ(result->items[0].name, "a\u00e9\n");
  EXPECT_EQ(result->items[1].price, 2.0);
}

TEST(json_read, takes_texts_that_do_not_end_with_nul_and_long_ones) {
  const std::string_view two = R"({"sequence": 2}garbage)";
  EXPECT_EQ(read<ping>(two.substr(0, 15))->sequence, 2);
  for (const std::size_t size : {511U, 512U, 513U, 100'000U, 70'000U, 600U}) {
    const std::string name(size - 8, 'x');
    const auto result = read<holds<std::string>>(R"({"a":")" + name + R"("})");
    ASSERT_TRUE(result) << size;
    EXPECT_EQ(result->a, name);
  }
}

TEST(json_read, reads_a_terminated_text_in_place) {
  ping value{};
  EXPECT_TRUE(weft::json::read_terminated_into(value, R"({"sequence": 3})"));
  EXPECT_EQ(value.sequence, 3);
}

TEST(json_read, reuses_the_memory_of_what_it_reads_into) {
  holds<std::string> value{std::string(1000, 'x')};
  const char* const memory = value.a.data();
  ASSERT_TRUE(weft::json::read_into(value, R"({"a":"short"})"));
  EXPECT_EQ(value.a, "short");
  EXPECT_EQ(value.a.data(), memory);
}

TEST(json_read, takes_one_value_and_nothing_else) {
  EXPECT_EQ(code_of<ping>(""), errc::truncated);
  EXPECT_EQ(code_of<ping>(" "), errc::truncated);
  EXPECT_EQ(code_of<ping>(R"({"sequence":1)"), errc::truncated);
  EXPECT_EQ(code_of<ping>(R"({"sequence":1}x)"), errc::trailing_content);
  EXPECT_EQ(code_of<ping>(R"({"sequence":1}{"sequence":1})"), errc::trailing_content);
  EXPECT_EQ(code_of<ping>("{\"sequence\":1}\0"sv), errc::trailing_content);
  EXPECT_EQ(code_of<ping>("{\"sequence\":1\0"sv), errc::syntax);
  EXPECT_EQ(code_of<ping>("\xEF\xBB\xBF{\"sequence\":1}"), errc::syntax);
  EXPECT_EQ(code_of<ping>(" {\"sequence\" :\t1\r\n} "), good);
}

TEST(json_read, refuses_what_is_not_json) {
  for (const std::string_view text :
       {R"({"sequence":1,})"sv, R"({,"sequence":1})"sv, R"({"sequence"1})"sv, R"({sequence:1})"sv,
        R"({'sequence':1})"sv, R"({"sequence":1]})"sv, R"({"sequence":1/**/})"sv,
        "{\"sequence\":\f1}"sv, R"({"sequence":01})"sv, R"({"sequence":-01})"sv,
        R"({"sequence":+1})"sv, R"({"sequence":-})"sv, R"({"sequence":1.})"sv,
        R"({"sequence":1e})"sv, R"({"sequence":0x1})"sv, R"({"sequence":1x})"sv,
        R"({"sequence":1 "sequence":2})"sv, "{\"sequence\":\0001}"sv, "{\"sequ\x01nce\":1}"sv}) {
    EXPECT_EQ(code_of<ping>(text), errc::syntax) << text;
  }
  for (const std::string_view text :
       {R"({"a":1.})"sv, R"({"a":.5})"sv, R"({"a":01.5})"sv, R"({"a":-.5})"sv, R"({"a":NaN})"sv,
        R"({"a":Infinity})"sv, R"({"a":-inf})"sv, R"({"a":1e+})"sv, R"({"a":1_0})"sv,
        R"({"a":1..2})"sv}) {
    EXPECT_EQ(code_of<holds<double>>(text), errc::syntax) << text;
  }
  for (const std::string_view text : {R"({"a":tru})"sv, R"({"a":truex})"sv, R"({"a":True})"sv}) {
    EXPECT_EQ(code_of<holds<bool>>(text), errc::syntax) << text;
  }
  EXPECT_EQ(code_of<holds<std::optional<int>>>(R"({"a":nul})"), errc::syntax);
  EXPECT_EQ(code_of<holds<std::vector<int>>>(R"({"a":[1,]})"), errc::syntax);
  EXPECT_EQ(code_of<holds<std::vector<int>>>(R"({"a":[1 2]})"), errc::syntax);
}

TEST(json_read, refuses_numbers_that_the_member_cannot_hold) {
  EXPECT_EQ(read<ping>(R"({"sequence":9223372036854775807})")->sequence,
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(read<ping>(R"({"sequence":-9223372036854775808})")->sequence,
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(code_of<ping>(R"({"sequence":9223372036854775808})"), errc::out_of_range);
  EXPECT_EQ(code_of<ping>(R"({"sequence":-9223372036854775809})"), errc::out_of_range);
  EXPECT_EQ(code_of<ping>(R"({"sequence":99999999999999999999999})"), errc::out_of_range);
  EXPECT_EQ(code_of<ping>(R"({"sequence":1e30})"), errc::out_of_range);
  EXPECT_EQ(code_of<ping>(R"({"sequence":1.5})"), errc::out_of_range);
  EXPECT_EQ(code_of<holds<std::uint32_t>>(R"({"a":-1})"), errc::out_of_range);
  EXPECT_EQ(code_of<holds<std::uint32_t>>(R"({"a":4294967296})"), errc::out_of_range);
  EXPECT_EQ(code_of<holds<std::int8_t>>(R"({"a":128})"), errc::out_of_range);
  EXPECT_EQ(code_of<holds<double>>(R"({"a":1e999})"), errc::out_of_range);
  EXPECT_EQ(code_of<holds<float>>(R"({"a":1e39})"), errc::out_of_range);
  EXPECT_EQ(read<ping>(R"({"sequence":1e2})")->sequence, 100);
}

TEST(json_read, refuses_values_of_another_type) {
  EXPECT_EQ(code_of<ping>(R"({"sequence":"1"})"), errc::wrong_type);
  EXPECT_EQ(code_of<ping>(R"({"sequence":null})"), errc::wrong_type);
  EXPECT_EQ(code_of<ping>("[]"), errc::wrong_type);
  EXPECT_EQ(code_of<ping>("null"), errc::wrong_type);
  EXPECT_EQ(code_of<holds<std::string>>(R"({"a":5})"), errc::wrong_type);
  EXPECT_EQ(code_of<holds<bool>>(R"({"a":1})"), errc::wrong_type);
  EXPECT_EQ(code_of<holds<bool>>(R"({"a":"true"})"), errc::wrong_type);
  EXPECT_EQ(code_of<bool>("1234"), errc::wrong_type);
  EXPECT_EQ(code_of<holds<std::vector<int>>>(R"({"a":{}})"), errc::wrong_type);
}

TEST(json_read, wants_utf8_and_whole_escapes_in_strings) {
  using text = holds<std::string>;
  EXPECT_EQ(read<text>(R"({"a":"\"\\\/\b\f\n\r\t\u0041\ud83d\ude00"})")->a,
            "\"\\/\b\f\n\r\tA\U0001F600");
  EXPECT_EQ(read<text>(R"({"a":"\u0000"})")->a, "\0"sv);
  for (const std::string_view bad :
       {"\xff"sv, "\xc0\x80"sv, "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv, "\xe2\x82"sv,
        "plain text before it, long enough for wide loads \x80"sv}) {
    EXPECT_EQ(code_of<text>("{\"a\":\"" + std::string(bad) + "\"}"), errc::invalid_utf8) << bad;
    EXPECT_EQ(code_of<text>("{\"" + std::string(bad) + "\":\"\"}"), errc::invalid_utf8) << bad;
  }
  for (const std::string_view bad :
       {"\n"sv, "\x01"sv, "\0"sv, R"(\x41)"sv, R"(\u00g0)"sv, R"(\u00)"sv, R"(\ud83d)"sv,
        R"(\ude00)"sv, R"(\ud83d\u0041)"sv}) {
    EXPECT_EQ(code_of<text>("{\"a\":\"" + std::string(bad) + "\"}"), errc::syntax) << bad;
  }
  EXPECT_EQ(code_of<text>(R"({"a":"abc)"), errc::truncated);
  EXPECT_EQ(code_of<text>(R"({"a":"abc\)"), errc::truncated);
}

TEST(json_read, wants_every_name_once_known_and_unescaped) {
  EXPECT_EQ(code_of<ping>("{}"), errc::missing_key);
  EXPECT_EQ(code_of<ping>(R"({"sequence":1,"more":2})"), errc::unknown_key);
  EXPECT_EQ(code_of<ping>(R"({"Sequence":1})"), errc::unknown_key);
  EXPECT_EQ(code_of<ping>(R"({"\u0073equence":1})"), errc::unknown_key);
  EXPECT_EQ(code_of<ping>(R"({"sequence":1,"sequence":2})"), errc::duplicate_key);
  EXPECT_EQ(code_of<holds<std::optional<int>>>("{}"), good);
  EXPECT_EQ(code_of<holds<std::optional<int>>>(R"({"a":null})"), good);
}

TEST(json_read, can_be_told_to_ignore_unknown_names_but_not_bad_json) {
  constexpr policy lenient{.ignore_unknown_names = true};
  EXPECT_EQ((read<ping, lenient>(R"({"x":{"y":[1,"\n",null]},"sequence":5,"\u0061":0})")->sequence),
            5);
  const auto several = read<std::vector<ping>, lenient>(R"([{"sequence":1},{"x":0,"sequence":2}])");
  ASSERT_TRUE(several) << several.error().message();
  EXPECT_EQ(several->at(1).sequence, 2);
  for (const std::string_view bad :
       {R"({"sequence":5,"x":02})"sv, R"({"sequence":5,"x":[1,]})"sv, R"({"sequence":5,"x":nan})"sv,
        R"({"sequence":5,"\q":1})"sv, R"({"sequence":5,"x":"\ud800"})"sv}) {
    const auto result = read<ping, lenient>(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_EQ(result.error().code, errc::syntax) << bad;
  }
}

TEST(json_read, can_be_told_to_keep_members_that_are_missing) {
  constexpr policy lenient{.allow_missing_names = true};
  ping value{.sequence = 9};
  ASSERT_TRUE((weft::json::read_into<lenient>(value, "{}")));
  EXPECT_EQ(value.sequence, 9);
}

TEST(json_read, bounds_depth_and_fixed_arrays) {
  std::string deep;
  for (std::size_t i = 0; i < weft::json::max_depth / 2; ++i) deep += R"({"nodes":[)";
  EXPECT_EQ(code_of<tree>(deep), errc::truncated);
  std::string closed = deep;
  for (std::size_t i = 0; i < weft::json::max_depth / 2; ++i) closed += "]}";
  EXPECT_EQ(code_of<tree>(closed), good);
  EXPECT_EQ(code_of<tree>(deep + R"({"nodes":[]})"), errc::too_deep);
  using pair_of_ints = holds<std::array<int, 2>>;
  EXPECT_EQ(code_of<pair_of_ints>(R"({"a":[1,2,3]})"), errc::too_many_elements);
  EXPECT_EQ(read<pair_of_ints>(R"({"a":[1]})")->a, (std::array{1, 0}));
}

TEST(json_read, reads_maps_and_variants) {
  EXPECT_EQ((read<std::map<std::string, int>>(R"({"x":1,"\u0079":2})")),
            (std::map<std::string, int>{{"x", 1}, {"y", 2}}));
  using number_or_text = std::variant<std::int64_t, std::string>;
  EXPECT_EQ(read<holds<number_or_text>>(R"({"a":"x"})")->a, number_or_text("x"));
  EXPECT_EQ(code_of<holds<number_or_text>>(R"({"a":[]})"), errc::invalid_value);
}

struct place {
  std::string_view text;
  std::size_t offset;
  std::string_view path;
  std::string_view message;
};

TEST(json_read, tells_where_and_why) {
  for (const place& expected : {
           place{R"({"id":1,"items":[{"name":"a","price":1},{"name":"b","price":"2"}]})", 60,
                 "/items/1/price", "/items/1/price: expected a number (byte 60)"},
           place{R"({"id":1,"items":[{"name":"a"}]})", 28, "/items/0/price",
                 "/items/0/price: this member is missing (byte 28)"},
           place{R"({"id":1,"itmes":[]})", 8, "/itmes", "/itmes: there is no such member (byte 8)"},
           place{R"({"id":99999999999,"items":[]})", 6, "/id",
                 "/id: the number is out of range (byte 6)"},
           place{R"({"id":1,"items":{}})", 16, "/items", "/items: expected an array (byte 16)"},
           place{R"({"id":1,"items":[],"note":5})", 26, "/note",
                 "/note: expected a string (byte 26)"},
           place{R"({"id":1,"items":[{"name":"a","price":01}]})", 38, "/items/0/price",
                 "/items/0/price: a number must not start with 0 (byte 38)"},
           place{R"([1])", 0, "", "expected an object (byte 0)"},
           place{R"({"id":1,"items":[{"name":"a", "price":1, "name":"b"}]})", 41, "/items/0/name",
                 "/items/0/name: this name is given twice (byte 41)"},
           place{"", 0, "", "the text is empty (byte 0)"},
           place{R"({"i\u0064":1,"items":[]})", 1, R"(/i\u0064)",
                 R"(/i\u0064: names must be spelled without escapes (byte 1))"},
       }) {
    const auto result = read<order>(expected.text);
    ASSERT_FALSE(result) << expected.text;
    const error& why = result.error();
    EXPECT_EQ(why.offset, expected.offset) << expected.text;
    EXPECT_EQ(why.path.view(), expected.path) << expected.text;
    EXPECT_EQ(why.message(), expected.message);
  }
}

TEST(json_read, finds_the_value_where_a_bool_was_expected) {
  for (const std::string_view text : {R"({"b":false, "a":1})"sv, R"({"b":false,"a":12345678})"sv,
                                      R"({"a":"x" ,"b":true})"sv, R"({"a":[] ,"b":true})"sv}) {
    const auto result = read<two_bools>(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().path.view(), "/a") << text;
    EXPECT_EQ(result.error().offset, text.find(R"("a":)") + 4) << text;
  }
}

}  // namespace

// Each type of docs/store.md: what clients may say, what they get back, and what they are told.
#include <weft/store/convert.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/store/base64.hpp>
#include <weft/store/json_value.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::store {
namespace {

using enum column_type;

json_scalar number(std::string_view token) { return {json_kind::number, token}; }
json_scalar string(std::string_view text) { return {json_kind::string, text}; }

struct conversion_case {
  column of;
  json_scalar given;
  std::string_view json;     // what comes back; empty: refused
  std::string_view message;  // of who is refused
};

std::string outcome_of(const conversion_case& one, purpose why) {
  scratch room;
  std::string out;
  if (const auto made = to_value(one.given, one.of, why, room))
    append_json(*made, one.of, out);
  else
    append_message(made.error(), one.of, out);
  return out;
}

void check(const std::vector<conversion_case>& cases, purpose why = purpose::key) {
  for (const conversion_case& one : cases)
    EXPECT_EQ(outcome_of(one, why), one.json.empty() ? one.message : one.json)
        << to_string(one.of.type) << " " << one.given.text;
}

column of_type(column_type type) { return {.name = "x", .type = type}; }
column natural(column_type type) { return {.name = "x", .type = type, .is_unsigned = true}; }
column sized(column_type type, std::uint32_t length) {
  return {.name = "x", .type = type, .length = length};
}
column fine(column_type type, std::uint8_t digits) {
  return {.name = "x", .type = type, .fraction_digits = digits};
}
column numeric(std::uint8_t precision, std::uint8_t scale) {
  return {.name = "x", .type = decimal, .precision = precision, .scale = scale};
}

TEST(convert, integers_are_checked_by_width_and_sign) {
  check({
      {of_type(tiny_int), number("127"), "127", {}},
      {of_type(tiny_int), number("-128"), "-128", {}},
      {of_type(tiny_int), number("128"), {}, "Wrong data type. Expecting TINYINT. Column: x"},
      {of_type(tiny_int), number("-129"), {}, "Wrong data type. Expecting TINYINT. Column: x"},
      {natural(tiny_int), number("255"), "255", {}},
      {natural(tiny_int),
       number("256"),
       {},
       "Wrong data type. Expecting TINYINT UNSIGNED. Column: x"},
      {natural(tiny_int),
       number("-1"),
       {},
       "Wrong data type. Expecting TINYINT UNSIGNED. Column: x"},
      {natural(tiny_int), number("-0"), "0", {}},
      {of_type(small_int), number("32767"), "32767", {}},
      {of_type(small_int), number("-32769"), {}, "Wrong data type. Expecting SMALLINT. Column: x"},
      {natural(small_int), number("65535"), "65535", {}},
      {natural(small_int),
       number("65536"),
       {},
       "Wrong data type. Expecting SMALLINT UNSIGNED. Column: x"},
      {of_type(medium_int), number("8388607"), "8388607", {}},
      {of_type(medium_int),
       number("8388608"),
       {},
       "Wrong data type. Expecting MEDIUMINT. Column: x"},
      {of_type(medium_int), number("-8388608"), "-8388608", {}},
      {natural(medium_int), number("16777215"), "16777215", {}},
      {natural(medium_int),
       number("16777216"),
       {},
       "Wrong data type. Expecting MEDIUMINT UNSIGNED. Column: x"},
      {of_type(integer), number("2147483647"), "2147483647", {}},
      {of_type(integer), number("-2147483648"), "-2147483648", {}},
      {of_type(integer), number("2147483648"), {}, "Wrong data type. Expecting INT. Column: x"},
      {natural(integer), number("4294967295"), "4294967295", {}},
      {natural(integer),
       number("4294967296"),
       {},
       "Wrong data type. Expecting INT UNSIGNED. Column: x"},
      {of_type(big_int), number("9223372036854775807"), "9223372036854775807", {}},
      {of_type(big_int), number("-9223372036854775808"), "-9223372036854775808", {}},
      {of_type(big_int),
       number("9223372036854775808"),
       {},
       "Wrong data type. Expecting BIGINT. Column: x"},
      {natural(big_int), number("18446744073709551615"), "18446744073709551615", {}},
      {natural(big_int),
       number("18446744073709551616"),
       {},
       "Wrong data type. Expecting BIGINT UNSIGNED. Column: x"},
  });
}

TEST(convert, integers_may_be_quoted_and_nothing_else) {
  check({
      {of_type(integer), string("17"), "17", {}},
      {of_type(integer), string("-17"), "-17", {}},
      {of_type(integer), string(""), {}, "Wrong data type. Expecting INT. Column: x"},
      {of_type(integer), string(" 1"), {}, "Wrong data type. Expecting INT. Column: x"},
      {of_type(integer), string("1 "), {}, "Wrong data type. Expecting INT. Column: x"},
      {of_type(integer), string("abc"), {}, "Wrong data type. Expecting INT. Column: x"},
      {of_type(integer), number("1.5"), {}, "Wrong data type. Expecting INT. Column: x"},
      {of_type(integer), number("1e2"), {}, "Wrong data type. Expecting INT. Column: x"},
      {of_type(integer),
       {json_kind::boolean, "true"},
       {},
       "Wrong data type. Expecting INT. Column: x"},
  });
}

TEST(convert, null_is_for_nullable_columns_alone_and_never_in_a_key) {
  column required = of_type(integer);
  required.is_nullable = false;
  const json_scalar null{json_kind::null, "null"};
  check(
      {{of_type(integer), null, {}, "Invalid column data. NULL is in no primary key. Column: x"}});
  check({{of_type(integer), null, "null", {}},
         {required, null, {}, "Invalid column data. The column does not take NULL. Column: x"}},
        purpose::content);
}

TEST(convert, floating_point_is_no_key) {
  check(
      {{of_type(float32), number("1"), {}, "A primary key of type FLOAT is unsupported. Column: x"},
       {of_type(float64),
        number("1"),
        {},
        "A primary key of type DOUBLE is unsupported. Column: x"},
       {of_type(blob), string(""), {}, "A primary key of type BLOB is unsupported. Column: x"}});
  check({{of_type(float64), number("0.1"), "0.1", {}},
         {of_type(float64), string("-1e308"), "-1e+308", {}},
         {of_type(float64), number("1e309"), {}, "Wrong data type. Expecting DOUBLE. Column: x"},
         {of_type(float64), string("nan"), {}, "Wrong data type. Expecting DOUBLE. Column: x"},
         {natural(float64),
          number("-0.5"),
          {},
          "Wrong data type. Expecting DOUBLE UNSIGNED. Column: x"},
         {of_type(float32), number("0.1"), "0.1", {}},
         {of_type(float32), number("3.5e38"), {}, "Wrong data type. Expecting FLOAT. Column: x"}},
        purpose::content);
}

TEST(convert, decimals_keep_all_their_digits) {
  column positive = numeric(5, 2);
  positive.is_unsigned = true;
  check({
      {numeric(10, 2), number("12.5"), "12.50", {}},
      {numeric(10, 2), string("-12.5"), "-12.50", {}},
      {numeric(10, 2), number("1.25e1"), "12.50", {}},
      {numeric(10, 2), string("000.10"), "0.10", {}},
      {numeric(10, 2), number("-0"), "0.00", {}},
      {numeric(10, 2), string(".5"), "0.50", {}},
      {numeric(10, 2), string("5."), "5.00", {}},
      {numeric(10, 2), number("99999999.99"), "99999999.99", {}},
      {numeric(10, 2),
       number("100000000"),
       {},
       "Wrong data type. Expecting DECIMAL(10,2). Column: x"},
      {numeric(10, 2), number("0.125"), {}, "Wrong data type. Expecting DECIMAL(10,2). Column: x"},
      {numeric(10, 2), number("0.1200"), "0.12", {}},
      {numeric(10, 2), string("1,5"), {}, "Wrong data type. Expecting DECIMAL(10,2). Column: x"},
      {numeric(10, 2), string("."), {}, "Wrong data type. Expecting DECIMAL(10,2). Column: x"},
      {numeric(10, 2), string("1e"), {}, "Wrong data type. Expecting DECIMAL(10,2). Column: x"},
      {numeric(10, 2), string("1e+-1"), {}, "Wrong data type. Expecting DECIMAL(10,2). Column: x"},
      {numeric(10, 2), number("1e5000"), {}, "Wrong data type. Expecting DECIMAL(10,2). Column: x"},
      {numeric(10, 2), number("0e5000"), "0.00", {}},
      {positive, number("-1"), {}, "Wrong data type. Expecting DECIMAL(5,2) UNSIGNED. Column: x"},
      {numeric(65, 30),
       number("12345678901234567890123456789012345.123456789012345678901234567891"),
       "12345678901234567890123456789012345.123456789012345678901234567891",
       {}},
      {numeric(2, 2), string("0.99"), "0.99", {}},
      {numeric(2, 2), string("1"), {}, "Wrong data type. Expecting DECIMAL(2,2). Column: x"},
      {numeric(3, 0), number("123"), "123", {}},
      {numeric(0, 0), number("1e3"), "1000", {}},
      {numeric(0, 0), number("-1.250"), "-1.25", {}},
      {numeric(0, 0), number("1e-66"), {}, "Wrong data type. Expecting DECIMAL. Column: x"},
  });
}

TEST(convert, texts_are_strings_of_so_many_characters) {
  check({
      {sized(varchar, 3), string("abc"), R"("abc")", {}},
      {sized(varchar, 3), string("äöü"), R"("äöü")", {}},
      {sized(varchar, 3),
       string("abcd"),
       {},
       "Invalid column data. The value is longer than the column, which has 3 characters. Column: "
       "x"},
      {sized(varchar, 3), string("a  "), R"("a  ")", {}},
      {sized(character, 3), string("a    "), R"("a")", {}},
      {sized(varchar, 9), string("\"\\\n\t\r\x01/"), R"("\"\\\n\t\r\u0001/")", {}},
      {sized(varchar, 40),
       string("longer than eight bytes \" and more"),
       R"("longer than eight bytes \" and more")",
       {}},
      {sized(varchar, 3), number("1"), {}, "Wrong data type. Expecting VARCHAR. Column: x"},
      {of_type(text), string(""), R"("")", {}},
  });
}

TEST(convert, bytes_come_in_base64) {
  check({
      {sized(binary, 4), string("/w=="), R"("/wAAAA==")", {}},
      {sized(binary, 1),
       string("AAE="),
       {},
       "Invalid column data. The value is longer than the column, which has 1 bytes. Column: x"},
      {sized(varbinary, 4), string("AAEC"), R"("AAEC")", {}},
      {sized(varbinary, 4), string(""), R"("")", {}},
      {sized(varbinary, 4),
       string("AAE"),
       {},
       "Invalid column data. Expecting Base64, padded with \"=\". Column: x"},
      {sized(varbinary, 4),
       string("AA=A"),
       {},
       "Invalid column data. Expecting Base64, padded with \"=\". Column: x"},
      {sized(varbinary, 4),
       string("/x=="),
       {},
       "Invalid column data. Expecting Base64, padded with \"=\". Column: x"},
      {sized(varbinary, 4), number("1"), {}, "Wrong data type. Expecting VARBINARY. Column: x"},
      {sized(bit, 8), string("/w=="), R"("/w==")", {}},
      {sized(bit, 12), string("DwA="), R"("DwA=")", {}},
      {sized(bit, 12), string("/w=="), R"("AP8=")", {}},
      {sized(bit, 12),
       string("8AA="),
       {},
       "Invalid column data. The value is longer than the column, which has 12 bits. Column: x"},
      {sized(bit, 64), string("//////////8="), R"("//////////8=")", {}},
      {sized(bit, 8),
       string("AAE="),
       {},
       "Invalid column data. The value is longer than the column, which has 8 bits. Column: x"},
  });
  check({{of_type(blob), string("AAEC"), R"("AAEC")", {}}}, purpose::content);
}

TEST(convert, days_and_times_are_real_ones) {
  check({
      {of_type(date), string("2024-02-29"), R"("2024-02-29")", {}},
      {of_type(date), string("2024-2-9"), R"("2024-02-09")", {}},
      {of_type(date), string("2024-02-29 10:00:00"), R"("2024-02-29")", {}},
      {of_type(date), string("2023-02-29"), {}, "Invalid Date/Time. Expecting DATE. Column: x"},
      {of_type(date), string("1900-02-29"), {}, "Invalid Date/Time. Expecting DATE. Column: x"},
      {of_type(date), string("2000-02-29"), R"("2000-02-29")", {}},
      {of_type(date), string("2024-13-01"), {}, "Invalid Date/Time. Expecting DATE. Column: x"},
      {of_type(date), string("2024-00-01"), {}, "Invalid Date/Time. Expecting DATE. Column: x"},
      {of_type(date), string("9999-12-31"), R"("9999-12-31")", {}},
      {of_type(date), string("10000-01-01"), {}, "Invalid Date/Time. Expecting DATE. Column: x"},
      {of_type(date), string(""), {}, "Invalid Date/Time. Expecting DATE. Column: x"},
      {of_type(date), number("20240229"), {}, "Wrong data type. Expecting DATE. Column: x"},
      {fine(date_time, 0), string("2024-02-29 12:34:56.789"), R"("2024-02-29 12:34:56")", {}},
      {fine(date_time, 3), string("2024-02-29T12:34:56.7899"), R"("2024-02-29 12:34:56.789")", {}},
      {fine(date_time, 6), string("2024-02-29 12:34"), R"("2024-02-29 12:34:00.000000")", {}},
      {fine(date_time, 0), string("2024-02-29"), R"("2024-02-29 00:00:00")", {}},
      {fine(date_time, 0),
       string("2024-02-29 24:00:00"),
       {},
       "Invalid Date/Time. Expecting DATETIME. Column: x"},
      {fine(date_time, 0),
       string("2024-02-29 12:00:00."),
       {},
       "Invalid Date/Time. Expecting DATETIME. Column: x"},
      {fine(date_time, 0),
       string("2024-02-29 12:00:00Z"),
       {},
       "Invalid Date/Time. Expecting DATETIME. Column: x"},
      {fine(timestamp, 0), string("1970-01-01 00:00:01"), R"("1970-01-01 00:00:01")", {}},
      {fine(timestamp, 0),
       string("1970-01-01 00:00:00"),
       {},
       "Invalid Date/Time. Expecting TIMESTAMP. Column: x"},
      {fine(timestamp, 6),
       string("2038-01-19 03:14:07.999999"),
       R"("2038-01-19 03:14:07.999999")",
       {}},
      {fine(timestamp, 0),
       string("2038-01-19 03:14:08"),
       {},
       "Invalid Date/Time. Expecting TIMESTAMP. Column: x"},
      {fine(time, 0), string("12:34:56"), R"("12:34:56")", {}},
      {fine(time, 2), string("-12:34:56.789"), R"("-12:34:56.78")", {}},
      {fine(time, 0), string("-00:00:00"), R"("00:00:00")", {}},
      {fine(time, 6), string("838:59:59.999999"), R"("838:59:59.000000")", {}},
      {fine(time, 0), string("839:00:00"), {}, "Invalid Date/Time. Expecting TIME. Column: x"},
      {fine(time, 0), string("12:60:00"), {}, "Invalid Date/Time. Expecting TIME. Column: x"},
      {of_type(year), number("1901"), "1901", {}},
      {of_type(year), string("2155"), "2155", {}},
      {of_type(year), number("1900"), {}, "Wrong data type. Expecting YEAR. Column: x"},
      {of_type(year), number("2156"), {}, "Wrong data type. Expecting YEAR. Column: x"},
  });
}

std::string json_of(const value& content, const column& of) {
  std::string out;
  append_json(content, of, out);
  return out;
}

TEST(json_value, escapes_texts_of_any_length) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string plain(size, 'x');
    std::string out = "before ";
    append_json(plain, out);
    EXPECT_EQ(out, "before \"" + plain + '"');
    out = "before ";
    append_json(plain + '"', out);
    EXPECT_EQ(out, "before \"" + plain + R"(\"")");
  }
}

TEST(json_value, escapes_what_is_not_plain_wherever_it_stands) {
  struct character {
    std::string_view is;
    std::string_view in_json;
  };
  for (const auto& [is, in_json] :
       {character{"\"", R"(\")"}, character{"\\", R"(\\)"}, character{"\x1f", R"(\u001f)"},
        character{"\x7f", "\x7f"}, character{"\u00e9", "\u00e9"}, character{"\xff", "\ufffd"}})
    for (std::size_t before = 0; before < 40; ++before)
      for (std::size_t behind = 0; behind < 20; ++behind) {
        const std::string first(before, 'x');
        const std::string last(behind, ' ');
        std::string out;
        append_json(first + std::string{is} + last, out);
        EXPECT_EQ(out, '"' + first + std::string{in_json} + last + '"');
      }
}

TEST(json_value, tells_what_other_programs_stored) {
  EXPECT_EQ(json_of(value::real(1e300), of_type(column_type::float32)), "1e+300");
  EXPECT_EQ(json_of(value::real(-1e300), of_type(column_type::float32)), "-1e+300");
  EXPECT_EQ(json_of(value::real(0.1), of_type(column_type::float32)), "0.1");
  EXPECT_EQ(json_of(value::real(double{0.1F}), of_type(column_type::float32)), "0.1");
  EXPECT_EQ(json_of(value::real(16777217), of_type(column_type::float32)), "16777217");
  EXPECT_EQ(json_of(value::text("2024-01-01 10:00:00"), fine(date_time, 3)),
            R"("2024-01-01 10:00:00.000")");
  EXPECT_EQ(json_of(value::text("10:00:00.5"), fine(time, 3)), R"("10:00:00.500")");
  EXPECT_EQ(json_of(value::text("no time at all, and a long one"), fine(time, 3)),
            R"("no time at all, and a long one")");
  EXPECT_EQ(json_of(value::integer(1700000000), fine(timestamp, 0)), "1700000000");
  EXPECT_EQ(json_of(value::text("abc"), of_type(integer)), R"("abc")");
  EXPECT_EQ(json_of(value::real(1.5), of_type(integer)), "1.5");
  EXPECT_EQ(json_of(value::text("abc"), of_type(blob)), R"("YWJj")");
  EXPECT_EQ(json_of(value::bytes("abc"), of_type(text)), R"("abc")");
  EXPECT_EQ(json_of(value::bytes("abc"), of_type(integer)), R"("YWJj")");
  EXPECT_EQ(json_of(value::text("a  "), sized(character, 3)), R"("a")");
  EXPECT_EQ(json_of(value::text("a\xff z\xc3\xa4\xed\xa0\x80"), of_type(text)),
            "\"a\xef\xbf\xbd z\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(json_of(value::real(0.0 / 0.0), of_type(float64)), "null");
}

TEST(json_value, has_decimals_as_numbers_in_any_form) {
  EXPECT_EQ(json_of(value::real(0.1), numeric(10, 2)), "0.10");
  EXPECT_EQ(json_of(value::integer(-7), numeric(10, 2)), "-7.00");
  EXPECT_EQ(json_of(value::integer(7), numeric(10, 0)), "7");
  EXPECT_EQ(json_of(value::integer(7), numeric(0, 0)), "7");
  EXPECT_EQ(json_of(value::real(1.5), numeric(0, 0)), "1.5");
  EXPECT_EQ(json_of(value::text("+1"), numeric(10, 2)), R"("+1")");
  EXPECT_EQ(json_of(value::text("01"), numeric(10, 2)), R"("01")");
  EXPECT_EQ(json_of(value::text("1."), numeric(10, 2)), R"("1.")");
  EXPECT_EQ(json_of(value::text("abc"), numeric(10, 2)), R"("abc")");
  EXPECT_EQ(json_of(value::natural(5), sized(bit, 3)), R"("BQ==")");
}

TEST(convert, allocates_nothing_once_warm) {
  scratch room;
  std::string out;
  const auto convert_all = [&] {
    room.clear();
    out.clear();
    for (const auto& [of, given] : {std::pair{of_type(integer), number("17")},
                                    std::pair{numeric(30, 10), string("12345678901234.5")},
                                    std::pair{fine(date_time, 3), string("2024-02-29T12:34:56.7")},
                                    std::pair{sized(binary, 40), string("AAECAwQF")},
                                    std::pair{sized(varchar, 40), string("plain \" text")}})
      append_json(*to_value(given, of, purpose::key, room), of, out);
  };
  convert_all();
  const testing::allocation_counter since;
  convert_all();
  EXPECT_EQ(since.allocations(), 0U);
}

TEST(base64, has_one_text_for_all_bytes) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    std::string out;
    append_base64(bytes, out);
    std::vector<char> room(decoded_size_max(out.size()));
    const auto size = decode_base64(out, room);
    ASSERT_TRUE(size);
    EXPECT_EQ(std::string_view(room.data(), *size), bytes);
    bytes += static_cast<char>(i * 7);
  }
}

}  // namespace
}  // namespace weft::store

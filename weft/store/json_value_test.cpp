#include <weft/store/json_value.hpp>

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace weft::store {
namespace {

using namespace std::string_view_literals;

std::string many(std::string_view text) {
  std::string all;
  while (all.size() < 10'000) all += text;
  return all;
}

TEST(json_size_max_test, is_hardly_more_than_what_is_appended) {
  constexpr std::array texts = {"x"sv,
                                "\""sv,
                                "\\"sv,
                                "\n"sv,
                                "\x01"sv,
                                "\0"sv,
                                "a\tb"sv,
                                "\x7f"sv,
                                "ä"sv,
                                "€uro"sv,
                                "😀"sv,
                                "\xff"sv,
                                "\xc3"sv,
                                "\xe2\x82"sv,
                                "{\"name\": \"Ada\"}"sv,
                                "0123456789abcdef\r\n"sv};
  for (const column_type type : {column_type::text, column_type::blob, column_type::any})
    for (const std::string_view each : texts) {
      const std::string text = many(each);
      const column of{.name = {}, .type = type};
      for (const value& content : {value::text(text), value::bytes(text)}) {
        std::string json;
        append_json(content, of, json);
        const std::size_t most = json_size_max(content, of);
        EXPECT_GE(most, json.size()) << each;
        if (content.kind() == value_kind::text && type == column_type::text)
          EXPECT_LE(most, json.size() + 100) << each;
      }
    }
}

TEST(json_size_max_test, counts_tagged_values_of_dynamic_columns) {
  for (const std::string_view each : {"x"sv, "\x10"sv, "\xff"sv, "\"\n"sv}) {
    const std::string text = many(each);
    for (const column_type type : {column_type::big_int, column_type::text, column_type::blob}) {
      const column of{.name = {}, .type = type, .is_dynamic = true};
      for (const value& content : {value::text(text), value::bytes(text), value::real(1e300)}) {
        std::string json;
        append_json(content, of, json);
        EXPECT_GE(json_size_max(content, of), json.size()) << each;
      }
    }
  }
}

TEST(json_size_max_test, counts_numbers) {
  for (const value& content : {value{}, value::integer(INT64_MIN), value::natural(UINT64_MAX),
                               value::real(-1.7976931348623157e308), value::real(5e-324)})
    for (const column_type type : {column_type::float64, column_type::decimal, column_type::text}) {
      const column of{.name = {}, .type = type, .precision = 65, .scale = 30};
      std::string json;
      append_json(content, of, json);
      EXPECT_GE(json_size_max(content, of), json.size());
    }
}

}  // namespace
}  // namespace weft::store

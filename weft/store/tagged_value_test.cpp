// Tagged values: each has one form, and what is told comes back.
#include <weft/store/tagged_value.hpp>

#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/store/convert.hpp>
#include <weft/store/json_value.hpp>

namespace weft::store {
namespace {

using enum column_type;

std::string told(const value& stored) {
  std::string out;
  append_tagged(stored, out);
  return out;
}

TEST(tagged_value, is_told_with_its_class) {
  EXPECT_EQ(told(value::integer(-300)), R"("\u0010integer:-300")");
  EXPECT_EQ(told(value::real(1.5)), R"("\u0010real:1.5")");
  EXPECT_EQ(told(value::real(-std::numeric_limits<double>::infinity())), R"("\u0010real:-inf")");
  EXPECT_EQ(told(value::text("a\"b\n")), R"("\u0010text:a\"b\n")");
  EXPECT_EQ(told(value::text("")), R"("\u0010text:")");
  EXPECT_EQ(told(value::text("\xff")), R"("\u0010text-base64:/w==")");
  EXPECT_EQ(told(value::bytes({"\0\xff", 2})), R"("\u0010blob:AP8=")");
  EXPECT_EQ(told(value{}), "null");
}

TEST(tagged_value, is_read_in_its_one_form_alone) {
  scratch room;
  EXPECT_EQ(read_tagged("\x10integer:-300", room), value::integer(-300));
  EXPECT_EQ(read_tagged("\x10real:1.5", room), value::real(1.5));
  EXPECT_EQ(read_tagged("\x10text:\x10text:", room), value::text("\x10text:"));
  EXPECT_EQ(read_tagged("\x10text-base64:/w==", room), value::text("\xff"));
  EXPECT_EQ(read_tagged("\x10"
                        "blob:",
                        room),
            value::bytes(""));
  for (const std::string_view wrong :
       {"integer:1", "\x10", "\x10integer:", "\x10integer:01", "\x10integer:+1", "\x10integer:1.5",
        "\x10integer:9223372036854775808", "\x10real:nan", "\x10real: 1",
        "\x10"
        "blob:AP8",
        "\x10"
        "blob:AP9=",
        "\x10null:", "\x10Text:"})
    EXPECT_FALSE(read_tagged(wrong, room)) << wrong;
}

struct plain_case {
  column of;
  value stored;
  std::string_view json;
};

TEST(tagged_value, is_what_the_column_cannot_say) {
  const auto of = [](column_type type, std::uint32_t length = 0) {
    return column{.name = "x", .type = type, .is_dynamic = true, .length = length};
  };
  const column price{.name = "x", .type = decimal, .is_dynamic = true, .precision = 10, .scale = 2};
  const column moment{.name = "x", .type = date_time, .is_dynamic = true, .keeps_form = true};
  const column named{.name = "x", .type = any, .makes_numbers = true, .is_dynamic = true};
  for (const auto& [column, stored, json] : {
           plain_case{of(tiny_int), value::integer(127), "127"},
           plain_case{of(tiny_int), value::integer(128), R"("\u0010integer:128")"},
           plain_case{of(tiny_int), value::text("5"), R"("\u0010text:5")"},
           plain_case{of(varchar, 2), value::text("\u20ac\u20ac"), "\"\u20ac\u20ac\""},
           plain_case{of(varchar, 2), value::text("abc"), R"("\u0010text:abc")"},
           plain_case{of(varchar), value::text("\x10"), R"("\u0010text:\u0010")"},
           plain_case{of(varchar), value::text("a\xff"), R"("\u0010text-base64:Yf8=")"},
           plain_case{of(character, 5), value::text("a "), R"("\u0010text:a ")"},
           plain_case{of(text), value::bytes("a"), R"("\u0010blob:YQ==")"},
           plain_case{of(blob), value::bytes("a"), R"("YQ==")"},
           plain_case{of(blob), value::text("a"), R"("\u0010text:a")"},
           plain_case{of(binary, 2), value::bytes("a"), R"("\u0010blob:YQ==")"},
           plain_case{price, value::real(12.5), "12.50"},
           plain_case{price, value::integer(7), "7.00"},
           plain_case{price, value::real(12.345), R"("\u0010real:12.345")"},
           plain_case{price, value::text("n/a"), R"("\u0010text:n/a")"},
           plain_case{of(decimal), value::text("n/a"), R"("n/a")"},
           plain_case{moment, value::text("2026-01-02T03:04:05.5Z"), R"("2026-01-02T03:04:05.5Z")"},
           plain_case{moment, value::text("2026-01-02"), R"("\u0010text:2026-01-02")"},
           plain_case{moment, value::integer(17), "17"},
           plain_case{moment, value::real(1e19), "1e+19"},
           plain_case{named, value::integer(5), "5"},
           plain_case{named, value::real(2), "2.0"},
           plain_case{named, value::text("5a"), R"("5a")"},
           plain_case{named, value::bytes("007"), R"("007")"},
           plain_case{named, value::bytes("7"), R"("\u0010blob:Nw==")"},
       }) {
    std::string out;
    append_json(stored, column, out);
    EXPECT_EQ(out, json);
  }
}

TEST(tagged_value, is_refused_where_the_engine_has_no_such_values) {
  scratch room;
  const json_scalar given{json_kind::string, "\x10integer:5"};
  const column plain{.name = "x", .type = integer};
  EXPECT_EQ(to_value(given, plain, purpose::content, room).error(), conversion_fault::wrong_type);
  const column dynamic{.name = "x", .type = tiny_int, .is_dynamic = true};
  EXPECT_EQ(to_value(given, dynamic, purpose::key, room), value::integer(5));
  const json_scalar wrong{json_kind::string, "\x10integer:x"};
  EXPECT_EQ(to_value(wrong, dynamic, purpose::key, room).error(), conversion_fault::not_tagged);
}

}  // namespace
}  // namespace weft::store

#include <weft/json/schema.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <weft/json/lent.hpp>
#include <weft/json/read.hpp>

namespace schema_shop {

struct line {
  std::string name;
  double price;
};

struct order {
  std::int64_t id;
  std::optional<std::string> note;
  std::vector<line> lines;

  static constexpr weft::json::description descriptions[] = {{"", "What somebody has ordered"},
                                                             {"id", "Given by the shop"}};
};

struct lent_order {
  std::optional<weft::json::lent_text> id;
  std::optional<weft::json::lent_text> note;
  weft::json::lent_scalar price;

  static constexpr weft::json::description descriptions[] = {
      {.name = "id", .text = "Given by the shop", .is_required = true}};
};

}  // namespace schema_shop

namespace schema_bank {

struct order {
  std::uint32_t amount;
};

}  // namespace schema_bank

namespace schema_types {

enum class colour : std::uint8_t { red, green };

struct tree {
  std::vector<tree> nodes;
};
template <class T>
struct page {
  std::vector<T> items;
};
struct both {
  page<schema_shop::order> orders;
  schema_bank::order transfer;
};
struct nothing {};

template <class T>
struct in {
  T a;
};

}  // namespace schema_types

namespace weft::json {
namespace {

using schema_types::in;

/// Of a member of type T.
template <class T>
std::string schema_of_member() {
  const std::string whole = schema_text<in<T>>();
  const std::string_view begin = R"("properties":{"a":)";
  const std::size_t at = whole.find(begin) + begin.size();
  const std::size_t end = std::min(whole.find(R"(},"required")", at),
                                   whole.find(R"(},"additionalProperties":false)", at));
  return whole.substr(at, end - at);
}

TEST(json_schema, knows_what_is_lent_and_what_is_required_though_it_may_be_missing) {
  EXPECT_EQ(
      schema_text<schema_shop::lent_order>(),
      R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#/$defs/lent_order",)"
      R"("$defs":{"lent_order":{"type":"object","properties":{"id":{"description":)"
      R"("Given by the shop","type":"string"},"note":{"type":["string","null"]},"price":{"anyOf":[)"
      R"({"anyOf":[{"type":"boolean"},{"type":"number"},{"type":"string"}]},{"type":"null"}]}},)"
      R"("required":["id"],"additionalProperties":false}}})");
}

TEST(json_schema, of_an_aggregate_is_a_definition_with_what_must_be_there) {
  EXPECT_EQ(
      schema_text<schema_shop::order>(),
      R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#/$defs/order",)"
      R"("$defs":{"order":{"type":"object","description":"What somebody has ordered",)"
      R"("properties":{"id":{"description":"Given by the shop","type":"integer","format":"int64",)"
      R"("minimum":-9223372036854775808,"maximum":9223372036854775807},)"
      R"("note":{"type":["string","null"]},)"
      R"("lines":{"type":"array","items":{"$ref":"#/$defs/line"}}},)"
      R"("required":["id","lines"],"additionalProperties":false},)"
      R"("line":{"type":"object","properties":{"name":{"type":"string"},)"
      R"("price":{"type":"number"}},"required":["name","price"],"additionalProperties":false}}})");
}

TEST(json_schema, says_what_each_type_is) {
  EXPECT_EQ(schema_of_member<bool>(), R"({"type":"boolean"})");
  EXPECT_EQ(schema_of_member<std::int8_t>(), R"({"type":"integer","minimum":-128,"maximum":127})");
  EXPECT_EQ(schema_of_member<std::uint64_t>(),
            R"({"type":"integer","minimum":0,"maximum":18446744073709551615})");
  EXPECT_EQ(schema_of_member<float>(), R"({"type":"number"})");
  EXPECT_EQ(schema_of_member<char>(), R"({"type":"string","maxLength":1})");
  EXPECT_EQ(schema_of_member<schema_types::colour>(),
            R"({"type":"string","enum":["red","green"]})");
  EXPECT_EQ((schema_of_member<std::map<std::string, bool>>()),
            R"({"type":"object","additionalProperties":{"type":"boolean"}})");
  EXPECT_EQ((schema_of_member<std::array<bool, 3>>()),
            R"({"type":"array","items":{"type":"boolean"},"maxItems":3})");
  EXPECT_EQ((schema_of_member<std::vector<bool>>()),
            R"({"type":"array","items":{"type":"boolean"}})");
  EXPECT_EQ((schema_of_member<std::variant<bool, std::string>>()),
            R"({"anyOf":[{"type":"boolean"},{"type":"string"}]})");
  EXPECT_EQ((schema_of_member<std::optional<schema_bank::order>>()),
            R"({"anyOf":[{"$ref":"#/$defs/order"},{"type":"null"}]})");
  EXPECT_EQ((schema_of_member<std::unique_ptr<bool>>()), R"({"type":["boolean","null"]})");
  EXPECT_EQ((schema_of_member<std::pair<bool, int>>()), "{}") << "what is not on the list";
}

TEST(json_schema, of_a_tuple_has_its_elements_in_their_order) {
  using pair = std::tuple<std::string, std::vector<bool>>;
  const std::string text = weft::json::schema_text<pair>();
  for (const std::string_view part :
       {R"("type":"array","prefixItems":[{"type":"string"},{"type":"array")",
        R"("items":{"type":"boolean"}}],"minItems":2,"maxItems":2)"})
    EXPECT_TRUE(text.contains(part)) << text;
  EXPECT_TRUE(weft::json::read<pair>(R"(["a",[true]])"));
  for (const std::string_view few : {"[]", R"(["a"])"})
    EXPECT_TRUE(weft::json::read<pair>(few).error().message().contains("too few")) << few;
  const auto many = weft::json::read<pair>(R"(["a",[],1])");
  EXPECT_TRUE(many.error().message().contains("too many"));
  for (const std::string_view other :
       {R"(["a",[],])", R"(["a" []])", R"(["a",[])", "{}", R"([1,[]])"})
    EXPECT_FALSE(weft::json::read<pair>(other)) << other;
}

TEST(json_schema, of_a_type_that_holds_itself_ends) {
  EXPECT_EQ(shape_of<schema_types::tree>().members[0].type().element,
            &shape_of<schema_types::tree>);
  EXPECT_NE(schema_text<schema_types::tree>().find(R"("items":{"$ref":"#/$defs/tree"})"),
            std::string::npos);
}

TEST(json_schema, gives_each_object_the_shortest_name_of_its_own) {
  const std::string text = schema_text<schema_types::both>();
  for (const std::string_view name :
       {R"("both":{)", R"("page_order":{)", R"("schema_shop.order":{)", R"("schema_bank.order":{)",
        R"("line":{)"})
    EXPECT_NE(text.find(name), std::string::npos) << name << " in " << text;
}

TEST(json_schema, of_an_empty_aggregate_takes_no_member) {
  EXPECT_NE(schema_text<schema_types::nothing>().find(
                R"({"type":"object","properties":{},"additionalProperties":false})"),
            std::string::npos)
      << schema_text<schema_types::nothing>();
}

/// Whether the reader wants `a`, as the schema says, and takes null for it.
template <class T>
void expect_that_the_reader_agrees() {
  const bool is_required = schema_text<in<T>>().contains(R"("required":["a"])");
  EXPECT_EQ(read<in<T>>("{}").has_value(), !is_required) << schema_of_member<T>();
  EXPECT_EQ(read<in<T>>(R"({"a":null})").has_value(), !is_required) << schema_of_member<T>();
}

TEST(json_schema, requires_what_the_reader_does) {
  expect_that_the_reader_agrees<bool>();
  expect_that_the_reader_agrees<int>();
  expect_that_the_reader_agrees<double>();
  expect_that_the_reader_agrees<std::string>();
  expect_that_the_reader_agrees<std::vector<int>>();
  expect_that_the_reader_agrees<std::array<int, 2>>();
  expect_that_the_reader_agrees<std::map<std::string, int>>();
  expect_that_the_reader_agrees<std::variant<int, std::string>>();
  expect_that_the_reader_agrees<schema_types::colour>();
  expect_that_the_reader_agrees<schema_shop::line>();
  expect_that_the_reader_agrees<std::optional<int>>();
  expect_that_the_reader_agrees<std::optional<schema_shop::line>>();
  expect_that_the_reader_agrees<std::unique_ptr<int>>();
}

TEST(json_schema, is_as_wide_as_the_reader) {
  EXPECT_FALSE(read<in<std::int8_t>>(R"({"a":128})"));
  EXPECT_TRUE(read<in<std::int8_t>>(R"({"a":-128})"));
  EXPECT_FALSE((read<in<std::array<int, 2>>>(R"({"a":[1,2,3]})")));
  EXPECT_TRUE((read<in<std::array<int, 2>>>(R"({"a":[]})"))) << "and so it says no minItems";
  EXPECT_TRUE(read<in<schema_types::colour>>(R"({"a":"green"})"));
  EXPECT_FALSE(read<in<schema_types::colour>>(R"({"a":"blue"})"));
  EXPECT_FALSE(read<in<char>>(R"({"a":"two"})"));
  EXPECT_TRUE(read<in<char>>(R"({"a":""})"));
}

TEST(json_composer, puts_commas_between_what_stands_beside_each_other) {
  std::string text;
  composer out{text};
  out.open_object().member("a", "\"\n").name("b").open_list();
  out.number(std::int64_t{-1}).number(std::uint64_t{2}).real(0.5).boolean(true).raw("{}");
  out.open_list().close_list().close_list().member("c", "").close_object();
  EXPECT_EQ(text, R"({"a":"\"\n","b":[-1,2,0.5,true,{},[]],"c":""})");
}

}  // namespace
}  // namespace weft::json

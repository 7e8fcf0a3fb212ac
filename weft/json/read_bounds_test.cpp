// What a document may cost: memory for its lists, its depth, and each name once.
#include <weft/json/lent.hpp>
#include <weft/json/read.hpp>
#include <weft/testing/allocation_counter.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace read_bounds_test {
namespace {

using namespace std::string_view_literals;
using weft::json::errc;
using weft::json::policy;
using weft::json::read;
using weft::testing::allocation_counter;

/// Cheap to write, dear to keep: `{}` is three bytes of a list.
struct sparse {
  std::optional<std::string> a, b, c, d, e, f, g, h;
};
struct sparse_list {
  std::vector<sparse> all;
};
struct request {
  weft::json::bounded_vector<sparse, 4> all;
};
struct circle {
  double x;
  double y;
  double radius;
};
struct square {
  double y;
  double x;
  std::string side;
};
struct node {
  std::optional<std::string> a;
  std::optional<std::string> b;
  std::vector<node> nodes;
};
struct many_members {
  std::optional<int> a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9,
      c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2,
      e3, e4, e5, e6, e7, e8, e9, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, g0, g1, g2, g3, g4, g5,
      g6, g7, g8, g9;
};
struct named {
  std::optional<int> a, ab;
};
template <class T>
struct holds {
  T a;
};

std::string repeated(std::string_view before, std::string_view element, std::size_t count,
                     std::string_view after) {
  std::string text{before};
  for (std::size_t i = 0; i < count; ++i) text.append(i == 0 ? "" : ",").append(element);
  return text.append(after);
}

constexpr std::size_t many = 300'000;

template <class T, policy Policy = {}>
errc code_of(std::string_view text) {
  const auto result = read<T, Policy>(text);
  return result ? errc{} : result.error().code;
}

template <class T>
std::uint64_t bytes_for(std::string_view text) {
  const allocation_counter since;
  (void)read<T>(text);
  return since.allocated_bytes();
}

TEST(json_read_bounds, a_list_takes_memory_in_proportion_to_its_text) {
  const std::string text = repeated(R"({"all":[)", "{}", many, "]}");
  // Of 900 kB: 16 times that in elements, each moved as the list grows, and a copy of the text.
  EXPECT_LT(bytes_for<sparse_list>(text), 80U * text.size());
}

/// Whatever is used like a list or a map, at any depth.
TEST(json_read_bounds, no_list_or_map_takes_more_than_the_policy_grants) {
  const std::string list = repeated("[", "{}", many, "]");
  const std::string lists = repeated("[", "[{},{},{}]", many / 3, "]");
  const std::string twins = repeated("[", "[{},{}]", many / 3, "]");
  const std::string pointers = repeated("[", R"({"a":{}})", many, "]");
  std::string names = "{";
  for (std::size_t i = 0; i < many; ++i) names += "\"" + std::to_string(i) + "\":{},";
  names.back() = '}';
  EXPECT_EQ(code_of<std::vector<sparse>>(list), errc::too_large);
  EXPECT_EQ(code_of<std::deque<sparse>>(list), errc::too_large);
  EXPECT_EQ(code_of<std::list<sparse>>(list), errc::too_large);
  EXPECT_EQ(code_of<std::vector<std::vector<sparse>>>(lists), errc::too_large);
  EXPECT_EQ((code_of<std::vector<std::array<sparse, 2>>>(twins)), errc::too_large);
  EXPECT_EQ((code_of<std::map<std::string, sparse>>(names)), errc::too_large);
  EXPECT_EQ((code_of<std::unordered_map<std::string, sparse>>(names)), errc::too_large);
  EXPECT_EQ((code_of<std::map<int, sparse>>(names)), errc::too_large);
  EXPECT_EQ((code_of<std::vector<std::pair<std::string, sparse>>>(names)), errc::too_large);
  EXPECT_EQ(code_of<std::vector<std::unique_ptr<sparse>>>(list), errc::too_large);
  EXPECT_EQ(code_of<std::vector<holds<std::unique_ptr<sparse>>>>(pointers), errc::too_large);
  EXPECT_EQ(code_of<holds<std::optional<std::vector<sparse>>>>(R"({"a":)" + list + "}"),
            errc::too_large);
  EXPECT_EQ((code_of<std::variant<bool, std::vector<sparse>>>(list)), errc::too_large);
}

TEST(json_read_bounds, plain_lists_are_far_from_the_bound) {
  for (const std::string_view element : {R"("")", R"("a")", R"("a longer text than fits inside")"})
    EXPECT_EQ(code_of<std::vector<std::string>>(repeated("[", element, many, "]")), errc{});
  EXPECT_EQ(code_of<std::vector<std::int64_t>>(repeated("[", "1", many, "]")), errc{});
  EXPECT_EQ(code_of<std::vector<bool>>(repeated("[", "true", many, "]")), errc{});
  EXPECT_EQ(code_of<std::vector<std::vector<int>>>(repeated("[", "[]", many, "]")), errc{});
  EXPECT_EQ(code_of<std::set<int>>(repeated("[", "1", many, "]")), errc{});
  EXPECT_EQ(code_of<std::vector<sparse>>(repeated("[", "{}", 500, "]")), errc{});
}

TEST(json_read_bounds, a_policy_grants_more_or_less) {
  const std::string text = repeated("[", "{}", many, "]");
  constexpr policy more{.memory_per_byte = 200};
  constexpr policy less{.memory_per_byte = 1, .least_memory_bytes = 100};
  EXPECT_EQ((code_of<std::vector<sparse>, more>(text)), errc{});
  EXPECT_EQ((code_of<std::vector<int>, less>("[1,2,3]")), errc{});
  EXPECT_EQ((code_of<std::vector<sparse>, less>("[{}]")), errc::too_large);
}

std::size_t three() noexcept { return 3; }

TEST(json_read_bounds, a_bounded_vector_is_never_made_longer_than_its_type_says) {
  EXPECT_EQ(code_of<request>(repeated(R"({"all":[)", "{}", 4, "]}")), errc{});
  const std::string text = repeated(R"({"all":[)", "{}", many, "]}");
  EXPECT_LT(bytes_for<request>(text), text.size() + 20 * sizeof(sparse));
  const auto refused = read<request>(text);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::too_many_elements);
  EXPECT_EQ(refused.error().message(),
            "/all/4: the array has too many elements (byte 20; at most 4)");
  using by_function = weft::json::bounded_vector<int, &three>;
  EXPECT_EQ(code_of<by_function>("[1,2,3]"), errc{});
  EXPECT_EQ(code_of<by_function>("[1,2,3,4]"), errc::too_many_elements);
}

TEST(json_read_bounds, lists_keep_the_memory_of_their_elements_and_maps_do_not_keep_entries) {
  std::vector<std::string> list{std::string(100, 'x'), "y", "z"};
  const char* const memory = list.front().data();
  ASSERT_TRUE(weft::json::read_into(list, R"(["a", "b"])"));
  EXPECT_EQ(list, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(list.front().data(), memory);
  ASSERT_TRUE(weft::json::read_into(list, "[ ]"));
  EXPECT_TRUE(list.empty());
  std::map<std::string, int> map{{"a", 1}};
  ASSERT_TRUE(weft::json::read_into(map, R"( { "b" : 2 , "c":3 } )"));
  EXPECT_EQ(map, (std::map<std::string, int>{{"b", 2}, {"c", 3}}));
  using pairs = std::vector<std::pair<std::string, int>>;
  EXPECT_EQ(read<pairs>(R"({"b":1, "a":2,"b":3})"), (pairs{{"b", 1}, {"a", 2}, {"b", 3}}));
  ASSERT_TRUE(weft::json::read_into(map, "{ }"));
  EXPECT_TRUE(map.empty());
}

/// The reader tries one alternative after another on the same object.
TEST(json_read_bounds, alternatives_that_are_tried_in_turn_each_see_every_name_once) {
  using figure = std::variant<circle, square>;
  EXPECT_EQ(code_of<std::vector<figure>>(
                R"([{"x":1,"y":2,"side":"3"},{"y":1,"x":2,"radius":3},{"side":"","y":1,"x":1}])"),
            errc{});
  EXPECT_NE(code_of<figure>(R"({"x":1,"y":2,"x":1,"radius":3})"), errc{});
  EXPECT_NE(code_of<figure>(R"({"x":1,"y":2,"side":"","side":""})"), errc{});
}

TEST(json_read_bounds, names_are_counted_for_each_object) {
  const auto is_fine = [](std::string_view text) {
    constexpr policy lenient{.allow_missing_names = true};
    return code_of<node>(text) == errc{} && code_of<node, lenient>(text) == errc{};
  };
  EXPECT_TRUE(is_fine(R"({"nodes":[{"a":"","nodes":[]},{"a":"","nodes":[{"nodes":[],"b":"}{"}]},
                          {"nodes":[],"a":null}],"a":"x","b":"{"})"));
  EXPECT_FALSE(is_fine(R"({"nodes":[{"a":"","nodes":[]}],"a":"x","nodes":[]})"));
  EXPECT_FALSE(is_fine(R"({"a":"{","nodes":[{"nodes":[]}],  "a":"x"})"));
  EXPECT_FALSE(is_fine(R"({"nodes":[{"nodes":[],"a":"","a":""}]})"));
}

TEST(json_read_bounds, objects_of_many_members_are_no_different) {
  EXPECT_EQ(code_of<many_members>(R"({"a0":1,"g0":1,"g9":1,"a6":1,"f9":2,"g1":1})"), errc{});
  EXPECT_EQ(code_of<many_members>(R"({"a0":1,"g9":1,"g9":1})"), errc::duplicate_key);
  EXPECT_EQ(code_of<many_members>(R"({"g9":1,"a0":1,"a0":1})"), errc::duplicate_key);
}

TEST(json_read_bounds, depth_is_bounded_wherever_it_is) {
  constexpr policy lenient{.ignore_unknown_names = true, .allow_missing_names = true};
  const std::string deep = std::string(1'000'000, '[');
  const std::string objects = repeated("", R"({"x":)", 1, "") + [] {
    std::string all;
    for (int i = 0; i < 200'000; ++i) all += R"({"x":)";
    return all;
  }();
  EXPECT_EQ((code_of<sparse, lenient>(R"({"x":)" + deep)), errc::too_deep);
  EXPECT_EQ((code_of<sparse, lenient>(objects)), errc::too_deep);
  EXPECT_EQ(code_of<sparse>(R"({"a":)" + deep), errc::wrong_type);
  EXPECT_EQ(code_of<sparse>(deep), errc::wrong_type);
}

TEST(json_read_bounds, the_first_fault_is_named_whatever_follows) {
  EXPECT_EQ(code_of<sparse>(R"({"a":1} and no JSON)"), errc::wrong_type);
  EXPECT_EQ(code_of<sparse>(R"({"a":tru])"), errc::syntax);
  EXPECT_EQ(code_of<sparse>(R"({"unknown":)"), errc::unknown_key);
  EXPECT_EQ(code_of<sparse_list>(repeated(R"({"all":[)", "{}", 2'000'000, ",no JSON")),
            errc::too_large);
}

/// To the reader every name with an escape is unknown.
TEST(json_read_bounds, no_unknown_name_is_a_known_one_in_disguise) {
  constexpr policy lenient{.ignore_unknown_names = true, .allow_missing_names = true};
  for (const std::string_view hidden : {R"(\u0061)", R"(\u0061\u0062)", R"(a\u0062)"}) {
    EXPECT_EQ((code_of<named, lenient>("{\"" + std::string{hidden} + "\":1}")), errc::unknown_key)
        << hidden;
  }
  EXPECT_EQ((code_of<sparse, lenient>(R"({"\u0061\"":1,"\\u0061":2})")), errc{});
  EXPECT_EQ((code_of<sparse, lenient>("{\"" + std::string(10'000, 'x') + "\\n\":1}")), errc{});
}

TEST(json_read_bounds, names_may_be_given_once) {
  struct twice {
    std::string_view text;
    bool is_fine;
  };
  for (const twice& each : {twice{R"({"all":[{"a":"x","b":"y"},{"a":"z"}]})", true},
                            twice{R"({"all":[{"a":"x","a":"y"}]})", false},
                            twice{R"({"all":[{"a":"x" , "b":null,
                          "a":"y"}]})",
                                  false},
                            twice{R"({"all":[],"all":[]})", false},
                            twice{R"({"all":[{"h":"1","b":"2","h":null}]})", false}}) {
    EXPECT_EQ(read<sparse_list>(each.text).has_value(), each.is_fine) << each.text;
    std::string keeper;
    sparse_list lent;
    EXPECT_EQ(weft::json::read_lent(lent, each.text, keeper).has_value(), each.is_fine);
  }
  using names = std::map<std::string, int>;
  EXPECT_TRUE(read<names>(R"({"a":1,"b":2})"));
  EXPECT_FALSE(read<names>(R"({"a":1,"a":1})"));
  EXPECT_FALSE(read<names>(R"({"a":1,"\u0061":1})"));
  constexpr policy lenient{.ignore_unknown_names = true, .allow_missing_names = true};
  EXPECT_FALSE((read<sparse, lenient>(R"({"a":"x","z":[{"a":1}],"a":"y"})")));
  EXPECT_FALSE((read<sparse, lenient>(R"({"a":"x","\u0061":"y"})")));
  EXPECT_TRUE((read<sparse, lenient>(R"({"a":"x","caf\u00e9":"y"})")));
}

}  // namespace
}  // namespace read_bounds_test

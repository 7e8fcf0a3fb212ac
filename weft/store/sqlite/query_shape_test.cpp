#include <weft/store/sqlite/query_shape.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace weft::store::sqlite {
namespace {

void expect_shape(std::string_view text, std::size_t parentheses, std::size_t selects) {
  const query_shape shape = shape_of(text);
  EXPECT_EQ(shape.parentheses, parentheses) << text;
  EXPECT_EQ(shape.selects, selects) << text;
}

TEST(query_shape, counts_what_is_open_at_once) {
  expect_shape("", 0, 0);
  expect_shape("SELECT (1), ((2)), (3)", 2, 1);
  expect_shape("SELECT 1 IN (SELECT 2 FROM (select 3))", 2, 3);
  expect_shape(")))(", 1, 0);
  std::string deep;
  for (int i = 0; i < 7000; ++i) deep += "select*from(";
  expect_shape(deep, 7000, 7000);
}

TEST(query_shape, leaves_out_texts_names_and_comments) {
  expect_shape("SELECT '(((' , \"((\"\"((\" , `((`, [((], 'it''s ((' -- ((( select", 0, 1);
  expect_shape("/* ((( select */ SELECT /**/ 1 /*/ (( */", 0, 1);
  expect_shape("SELECT 1 -- ((\n + (2)", 1, 1);
  expect_shape("SELECT 'it''(', (1)", 1, 1);
  expect_shape("SELECT 3-(2)/(1)->(4)", 1, 1);
  expect_shape("SELECT x'00', (1)", 1, 1);
}

TEST(query_shape, knows_words_from_names_that_begin_so) {
  expect_shape("selects, select1, select$, _select, \xC3\xBCselect, aselect", 0, 0);
  expect_shape("SeLeCt+select*SELECT(select)", 1, 4);
  expect_shape("\xEF\xBB\xBFselect 1", 0, 1);
}

/// In its name a quote is no quote, and a parenthesis none.
TEST(query_shape, knows_parameters_as_tcl_writes_them) {
  expect_shape("SELECT $a('), ((1))", 2, 1);
  expect_shape("SELECT $a::b(((), (1)", 1, 1);
  expect_shape("SELECT :a(\"), (select 1)", 1, 2);
  expect_shape("SELECT :a, @b, $c, ?1, #d, (1)", 1, 1);
  expect_shape("SELECT a$b('(')", 1, 1);
  expect_shape("SELECT $a(' '(', (1)", 1, 1);
}

TEST(query_shape, ends_with_the_text) {
  for (const std::string_view each :
       {"'(", "\"(", "`(", "[(", "--(", "/*(", "/*", "$a(", "$", ":", "$a:", "x'", "-", "/"})
    expect_shape(each, 0, 0);
}

}  // namespace
}  // namespace weft::store::sqlite

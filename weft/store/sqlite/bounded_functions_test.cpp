#include <weft/store/sqlite/bounded_functions.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <expected>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/store/sqlite/query_watch.hpp>

namespace weft::store::sqlite {
namespace {

class bounded_functions : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(theirs_ && ours_);
    ASSERT_EQ(add_bounded_functions(*ours_), SQLITE_OK);
  }
  void TearDown() override { remove_folder(folder_); }

  /// The answer and its type; what goes wrong.
  static std::string ask(connection& by, const std::string& expression) {
    const statement asked =
        by.prepare("SELECT typeof(x)||' '||quote(x) FROM (SELECT " + expression + " AS x)");
    if (asked == nullptr) return sqlite3_errmsg(by.get());
    if (sqlite3_step(asked.get()) != SQLITE_ROW) return sqlite3_errmsg(by.get());
    return reinterpret_cast<const char*>(sqlite3_column_text(asked.get(), 0));
  }
  std::string ours(const std::string& expression) { return ask(*ours_, expression); }
  void expect_same(const std::string& expression) {
    EXPECT_EQ(ours(expression), ask(*theirs_, expression)) << expression;
  }

  std::string folder_ = make_folder();
  std::expected<connection, std::string> theirs_ =
      connection::open(folder_ + "/theirs.db", sqlite::access::create);
  std::expected<connection, std::string> ours_ =
      connection::open(folder_ + "/ours.db", sqlite::access::create);
};

std::string drawn_text(std::minstd_rand& seed, std::size_t most) {
  static constexpr std::string_view letters[] = {
      "a", "a", "b", "\xC3\xBC", "\xE2\x82\xAC", "\xF0\x9D\x84\x9E", " "};
  std::string text;
  for (std::size_t left = seed() % (most + 1); left > 0; --left)
    text += letters[seed() % std::size(letters)];
  return "'" + text + "'";
}

TEST_F(bounded_functions, answer_as_those_of_sqlite) {
  std::minstd_rand seed{7};
  for (int i = 0; i < 3000; ++i) {
    const std::string in = drawn_text(seed, 12);
    const std::string what = drawn_text(seed, 3);
    const std::string by = drawn_text(seed, 2);
    expect_same("instr(" + in + "," + what + ")");
    expect_same("instr(CAST(" + in + " AS BLOB),CAST(" + what + " AS BLOB))");
    expect_same("instr(CAST(" + in + " AS BLOB)," + what + ")");
    expect_same("replace(" + in + "," + what + "," + by + ")");
    for (const std::string_view side : {"trim(", "ltrim(", "rtrim("})
      expect_same(std::string{side} + in + "," + what + ")");
  }
}

TEST_F(bounded_functions, are_like_what_sqlite_finds_like) {
  std::minstd_rand seed{9};
  static constexpr std::string_view parts[] = {"a",  "A",    "b",    "%", "_",        "*",
                                               "?",  "[ab]", "[^a]", "!", "\xC3\xBC", "%%",
                                               "!%", "!_",   "[",    "]"};
  for (int i = 0; i < 10'000; ++i) {
    std::string pattern;
    for (std::size_t left = seed() % 5; left > 0; --left)
      pattern += parts[seed() % std::size(parts)];
    const std::string text = i % 2 == 0 ? drawn_text(seed, 6) : "'aAb%_*!'";
    expect_same(text + " LIKE '" + pattern + "'");
    expect_same(text + " LIKE '" + pattern + "' ESCAPE '!'");
    expect_same(text + " LIKE '" + pattern + "' ESCAPE '\xC3\xBC'");
    expect_same(text + " GLOB '" + pattern + "'");
  }
  for (const std::string_view each : {"NULL", "1", "1.0", "'1%'", "x'31'", "''", "x''"})
    for (const std::string_view other : {"NULL", "1", "'1'", "x'31'", "''"})
      for (const std::string_view how : {" LIKE ", " GLOB ", " NOT LIKE "})
        expect_same(std::string{other} + std::string{how} + std::string{each});
  expect_same("'a' LIKE 'a' ESCAPE NULL");
  EXPECT_TRUE(ours("'a' LIKE 'a' ESCAPE '%'").starts_with("ESCAPE is a single character"));
  EXPECT_TRUE(ours("'a' LIKE 'a' ESCAPE 'ab'").starts_with("ESCAPE is a single character"));
}

TEST_F(bounded_functions, end_with_the_query) {
  bool is_over = false;
  const query_watch here{[](void* over) { return *static_cast<const bool*>(over) ? 1 : 0; },
                         &is_over};
  for (const std::string_view each : {"instr('ab','b')", "replace('a','a','b')", "trim('aba','a')",
                                      "'a' LIKE 'b'", "'a' LIKE 'b' ESCAPE 'c'", "'a' GLOB 'b'"}) {
    is_over = false;
    EXPECT_NE(ours(std::string{each}), "interrupted");
    is_over = true;
    EXPECT_EQ(ours(std::string{each}), "interrupted");
  }
}

TEST_F(bounded_functions, take_what_is_no_text) {
  for (const std::string_view call : {"instr(", "trim(", "ltrim(", "rtrim("})
    for (const std::string_view one : {"NULL", "''", "x''", "123", "1.5", "x'61'", "'a'"})
      for (const std::string_view other : {"NULL", "''", "x''", "2", "x'61'", "'a'", "x'80'"})
        expect_same(std::string{call} + std::string{one} + "," + std::string{other} + ")");
  for (const std::string_view three :
       {"NULL,'a','b'", "'a',NULL,'b'", "'a','a',NULL", "12321,2,0", "'a','','b'", "x'61','a','b'",
        "'aaa','aa','b'", "'a','abc','b'", "zeroblob(0),'a','b'"})
    expect_same("replace(" + std::string{three} + ")");
  // Bytes that are no UTF-8.
  expect_same("instr(CAST(x'808080' AS TEXT),CAST(x'80' AS TEXT))");
  expect_same("instr(CAST(x'618061' AS TEXT),CAST(x'8061' AS TEXT))");
  expect_same("trim('aba',x'6100')");
}

TEST_F(bounded_functions, are_as_fast_for_long_texts) {
  const std::string text = "replace(hex(zeroblob(400000)),'0','a')";
  EXPECT_EQ(ours("instr(" + text + ",substr(" + text + ",1,300000)||'b')"), "integer 0");
  EXPECT_EQ(ours("length(replace(" + text + ",substr(" + text + ",1,100000)||'b',''))"),
            "integer 800000");
  EXPECT_EQ(ours("length(trim(" + text + ",hex(randomblob(400000))||'a'))"), "integer 0");
  EXPECT_EQ(ours("instr(" + text + ",CAST(x'80' AS TEXT))"), "integer 0");
  sqlite3_limit(ours_->get(), SQLITE_LIMIT_LENGTH, 1'000'000);
  EXPECT_EQ(ours("replace(" + text + ",'a','bb')"), "string or blob too big");
}

}  // namespace
}  // namespace weft::store::sqlite

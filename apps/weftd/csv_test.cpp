#include <apps/weftd/csv.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace weftd {
namespace {

std::vector<std::string> fields_of(std::string_view record, char separator = ',') {
  weft::store::scratch room;
  std::vector<csv_field> found;
  split_record(record, separator, room, found);
  std::vector<std::string> texts;
  for (const csv_field& each : found)
    texts.push_back(std::string{each.is_quoted ? "q:" : ""} + std::string{each.text});
  return texts;
}

using words = std::vector<std::string>;

TEST(csv, splits_records) {
  EXPECT_EQ(fields_of("a,b,c\r\n"), (words{"a", "b", "c"}));
  EXPECT_EQ(fields_of("a,,"), (words{"a", "", ""}));
  EXPECT_EQ(fields_of(","), (words{"", ""}));
  EXPECT_EQ(fields_of("\n"), words{});
  EXPECT_EQ(fields_of("\"a,b\",\"\",x\n"), (words{"q:a,b", "q:", "x"}));
  EXPECT_EQ(fields_of("\"say \"\"hi\"\"\",\"\"\"\"\n"), (words{"q:say \"hi\"", "q:\""}));
  EXPECT_EQ(fields_of("\"two\nlines\"\r\n"), (words{"q:two\nlines"}));
  EXPECT_EQ(fields_of("a;b,c", ';'), (words{"a", "b,c"}));
}

TEST(csv, finds_where_a_record_ends) {
  const auto end_of = [](std::string_view text, bool is_all) {
    const csv_extent found = find_record(text, ',', is_all);
    EXPECT_EQ(found.state, csv_state::whole);
    return std::pair{found.size, found.lines};
  };
  EXPECT_EQ(end_of("a,b\nc", false), (std::pair<std::size_t, std::size_t>{4, 1}));
  EXPECT_EQ(end_of("a\r\nc", false), (std::pair<std::size_t, std::size_t>{3, 1}));
  EXPECT_EQ(end_of("\"a\nb\",c\nd", false), (std::pair<std::size_t, std::size_t>{8, 2}));
  EXPECT_EQ(end_of("a,b", true), (std::pair<std::size_t, std::size_t>{3, 1}));
  EXPECT_EQ(end_of("\"a\"", true), (std::pair<std::size_t, std::size_t>{3, 1}));
  EXPECT_EQ(end_of("", true), (std::pair<std::size_t, std::size_t>{0, 0}));
  EXPECT_EQ(end_of("\na", false), (std::pair<std::size_t, std::size_t>{1, 1}));
}

TEST(csv, asks_for_more_until_it_can_tell) {
  for (const std::string_view text :
       {"", "a", "a,", "a\r", "\"a", "\"a\"", "\"a\"\"", "\"a\nb", "a\"b"})
    EXPECT_EQ(find_record(text, ',', false).state, csv_state::incomplete) << text;
}

TEST(csv, says_what_is_wrong_and_goes_on_with_the_next_line) {
  const auto wrong = [](std::string_view text) {
    const csv_extent found = find_record(text, ',', true);
    EXPECT_EQ(found.state, csv_state::malformed) << text;
    EXPECT_NE(found.fault, "");
    return text.substr(found.size);
  };
  EXPECT_EQ(wrong("a,b\"c\nnext"), "next");
  EXPECT_EQ(wrong("\"a\"b,c\nnext"), "next");
  EXPECT_EQ(wrong("a\rb\nnext"), "next");
  EXPECT_EQ(find_record("\"a\nnext", ',', true).state, csv_state::unclosed);
  EXPECT_EQ(wrong("\"a\nb\"c,d\nnext"), "next");
  EXPECT_EQ(find_record("\"a\nb\"c\nnext", ',', true).lines, 2U);
}

TEST(csv, is_found_the_same_in_pieces) {
  constexpr std::string_view text = "id,\"na\"\"me\",x\r\n1,\"a\r\n,b\",\n\"\",2,3\n";
  std::size_t at = 0;
  std::size_t records = 0;
  while (at < text.size()) {
    const csv_extent whole = find_record(text.substr(at), ',', true);
    ASSERT_EQ(whole.state, csv_state::whole);
    for (std::size_t size = 0; size < whole.size; ++size)
      EXPECT_EQ(find_record(text.substr(at, size), ',', false).state, csv_state::incomplete);
    EXPECT_EQ(find_record(text.substr(at, whole.size), ',', false).size, whole.size);
    at += whole.size;
    ++records;
  }
  EXPECT_EQ(records, 3U);
}

}  // namespace
}  // namespace weftd

#include <weft/http/scan.hpp>

#include <gtest/gtest.h>

#include <string>

#include <weft/base/random.hpp>

namespace weft::http {
namespace {

// The definitions of the RFCs, spelled a second time.
bool is_tchar(int c) {
  return std::isalnum(c) != 0 ||
         std::string_view{"!#$%&'*+-.^_`|~"}.find(static_cast<char>(c)) != std::string_view::npos;
}
bool is_unreserved_or_sub_delim(int c) {
  return std::isalnum(c) != 0 ||
         std::string_view{"-._~!$&'()*+,;="}.find(static_cast<char>(c)) != std::string_view::npos;
}

TEST(scan, the_table_holds_the_sets_of_the_rfcs) {
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    const bool is_ascii = c < 128;
    const bool is_pchar = is_ascii && (is_unreserved_or_sub_delim(c) || c == ':' || c == '@');
    EXPECT_EQ(scan::contains<scan::set::token>(byte), is_ascii && is_tchar(c)) << c;
    EXPECT_EQ(scan::contains<scan::set::path>(byte), (is_pchar || c == '/') && c != '.') << c;
    EXPECT_EQ(scan::contains<scan::set::query>(byte), is_pchar || c == '/' || c == '?') << c;
    EXPECT_EQ(scan::contains<scan::set::uri>(byte),
              is_pchar || c == '/' || c == '?' || c == '%' || c == '[' || c == ']')
        << c;
    EXPECT_EQ(scan::contains<scan::set::host>(byte), is_ascii && is_unreserved_or_sub_delim(c))
        << c;
    EXPECT_EQ(scan::contains<scan::set::field>(byte), c == '\t' || (c >= 32 && c != 127)) << c;
  }
}

template <scan::set Set>
void compare(std::string_view text) {
  for (std::size_t at = 0; at <= text.size(); at += 1 + text.size() / 16)
    ASSERT_EQ(scan::skip<Set>(text.data(), at, text.size()),
              scan::skip_scalar<Set>(text.data(), at, text.size()))
        << "from " << at << " in " << testing::PrintToString(std::string{text});
}

void compare_all(std::string_view text) {
  compare<scan::set::token>(text);
  compare<scan::set::path>(text);
  compare<scan::set::query>(text);
  compare<scan::set::uri>(text);
  compare<scan::set::field>(text);
  compare<scan::set::host>(text);
}

TEST(scan, vector_and_scalar_stop_at_the_same_byte_wherever_it_stands) {
  for (int c = 0; c < 256; ++c)
    for (std::size_t size : {1uz, 15uz, 16uz, 17uz, 33uz})
      for (std::size_t place = 0; place < size; ++place) {
        std::string text(size, 'a');
        text[place] = static_cast<char>(c);
        compare_all(text);
      }
}

TEST(scan, vector_and_scalar_agree_on_random_bytes) {
  random dice{2024};
  for (int round = 0; round < 20'000; ++round) {
    std::string text(dice.below(70), '\0');
    // Mostly letters, so that there is something to skip.
    for (char& c : text)
      c = static_cast<char>(dice.chance(7, 8) ? 'a' + dice.below(26) : dice.below(256));
    compare_all(text);
  }
}

TEST(scan, decimal) {
  EXPECT_EQ(scan::decimal("0"), 0u);
  EXPECT_EQ(scan::decimal("999999999999999999"), 999999999999999999u);
  EXPECT_EQ(scan::decimal("1000000000000000000"), std::nullopt);
  EXPECT_EQ(scan::decimal(""), std::nullopt);
  EXPECT_EQ(scan::decimal("1a"), std::nullopt);
  EXPECT_EQ(scan::decimal("-1"), std::nullopt);
  EXPECT_EQ(scan::decimal("1/"), std::nullopt);
  EXPECT_EQ(scan::decimal("1:"), std::nullopt);
}

TEST(scan, hex_value) {
  for (int c = 0; c < 256; ++c) {
    const std::string_view digits = "0123456789abcdef";
    const std::size_t found = digits.find(static_cast<char>(c < 128 ? std::tolower(c) : c));
    EXPECT_EQ(scan::hex_value(static_cast<char>(c)),
              found == digits.npos ? -1 : static_cast<int>(found))
        << c;
  }
}

}  // namespace
}  // namespace weft::http

#include <weft/base/log_escape.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

using namespace std::string_view_literals;
using weft::log::append_escaped;
using weft::log::escaped;
using weft::log::escaping;

std::string escaped(std::string_view text, escaping how) {
  std::string out = "> ";
  append_escaped(out, text, how);
  return out.substr(2);
}
std::string plain(std::string_view text) { return escaped(text, escaping::plain); }
std::string json(std::string_view text) { return escaped(text, escaping::json); }

TEST(log_escape, leaves_text_as_it_is) {
  for (const std::string_view text : {""sv, "a"sv, "\u00e9\u20ac\U0001F980 \u4e16"sv, "\u00a0"sv}) {
    EXPECT_EQ(plain(text), text);
    EXPECT_EQ(json(text), text);
  }
  EXPECT_EQ(plain("\"\\"), "\"\\");
}

TEST(log_escape, shows_what_would_forge_lines_or_control_a_terminal) {
  EXPECT_EQ(plain("a\nb\r\t\0\x1b[2J\x7f"sv), "a\\nb\\x0d\\x09\\x00\\x1b[2J\\x7f");
  EXPECT_EQ(plain("\u009b2J"), "\\u009b2J") << "a control sequence begins in one character, too";
  EXPECT_EQ(plain("\u2028\u202e\u2066"), "\\u2028\\u202e\\u2066");
  EXPECT_EQ(json("a\"b\\c\nd\re\tf\0g\x1b\x7f\u0085\u202e"sv),
            "a\\\"b\\\\c\\nd\\re\\tf\\u0000g\\u001b\\u007f\\u0085\\u202e");
}

TEST(log_escape, gives_utf_8_whatever_it_is_given) {
  for (const std::string_view wrong : {"\xff"sv, "\x80"sv, "\xc3"sv, "\xe2\x82"sv}) {
    std::string shown;
    std::string replaced;
    for (const char byte : wrong) {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto value = static_cast<unsigned char>(byte);
      ((shown += "\\x") += digits[value / 16]) += digits[value % 16];
      replaced += "\\ufffd";
    }
    EXPECT_EQ(plain(wrong), shown);
    EXPECT_EQ(json(wrong), replaced);
  }
  EXPECT_EQ(plain("\xc0\x9b"), "\\xc0\\x9b") << "overlong";
  EXPECT_EQ(plain("\xe0\x80\x8a"), "\\xe0\\x80\\x8a") << "overlong";
  EXPECT_EQ(plain("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(plain("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last";
  EXPECT_EQ(plain("\xc3x"), "\\xc3x");
}

TEST(log_escape, shows_no_password_of_a_url) {
  EXPECT_EQ(escaped("'mysql://u:secret@db/x' is no address"), "'mysql://***@db/x' is no address");
  EXPECT_EQ(escaped("http://secret@h"), "http://***@h");
  EXPECT_EQ(escaped("http://u:se@cr/et@h:1, and https://v:secret@[::1]/?a"),
            "http://***@h:1, and https://***@[::1]/?a");
  EXPECT_EQ(escaped("http://u:1@h,http://v:2@i/"), "http://***@i/");
  for (const std::string_view as_it_is : {"http://h/", "a@b", "://", "http://h 'a@b'",
                                          "unix:/run/a@b", "@", "write mysql://shop@db.example"})
    EXPECT_EQ(escaped(as_it_is), as_it_is);
}

}  // namespace

#include <weft/json/write.hpp>
#include <weft/json/read.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/sanitizers.hpp>

namespace {

using weft::json::append;
using weft::json::write;

struct beat {
  std::int64_t sequence;
};
struct row {
  std::string text;
  std::optional<int> maybe;
  std::vector<double> numbers;
  bool flag;
  std::map<std::string, std::uint64_t> counts;

  friend bool operator==(const row&, const row&) = default;
};

template <class T>
std::string written(const T& value) {
  std::string out = "something that was there";
  write(value, out);
  return out;
}

TEST(json_write, replaces_what_the_string_held) {
  EXPECT_EQ(written(beat{2}), R"({"sequence":2})");
  EXPECT_EQ(written(beat{std::numeric_limits<std::int64_t>::min()}),
            R"({"sequence":-9223372036854775808})");
}

TEST(json_write, appends_behind_what_the_string_held) {
  std::string out = "data: ";
  append(beat{1}, out);
  append(beat{2}, out);
  EXPECT_EQ(out, R"(data: {"sequence":1}{"sequence":2})");
}

TEST(json_write, reuses_the_capacity_once_it_is_large_enough) {
  std::string out;
  out.reserve(30);
  const char* const memory = out.data();
  for (std::int64_t i = 0; i < 1000; ++i) write(beat{i}, out);
  EXPECT_EQ(out.data(), memory);
  EXPECT_EQ(out, R"({"sequence":999})");

  std::string large;
  const std::string text(10'000, 'x');
  write(text, large);
  const char* const large_memory = large.data();
  for (int i = 0; i < 10; ++i) write(text, large);
  EXPECT_EQ(large.data(), large_memory);
}

TEST(json_write, grows_to_whatever_the_value_needs) {
  for (const std::size_t size :
       {0U,   20U,  200U, 250U,  255U,  256U,  257U,  500U,  700U,  760U,    766U,
        767U, 768U, 769U, 1000U, 1023U, 1024U, 1500U, 1800U, 5000U, 300'000U}) {
    const std::string text(size, 'x');
    std::string out = "<";
    append(text, out);
    EXPECT_EQ(out, "<\"" + text + "\"") << size;
  }
}

TEST(json_write, escapes_what_must_be_escaped) {
  EXPECT_EQ(written(std::string_view{"\"\\/\b\f\n\r\t\x01\x1f\0\x7f\u00e9", 14}),
            "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001F\\u0000\x7f\u00e9\"");
  for (std::size_t before = 0; before < 70; ++before) {  // at every place in wide loads
    const std::string text = std::string(before, 'x') + "\x02" + std::string(40, 'y');
    const auto back = weft::json::read<std::string>(written(text));
    ASSERT_TRUE(back) << before;
    EXPECT_EQ(*back, text);
  }
}

/// As RFC 8259 section 7 has it, a byte at a time.
std::string as_json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view special = "\"\\\b\f\n\r\t";
    if (const auto at = special.find(c); at != std::string_view::npos)
      out += {'\\', "\"\\bfnrt"[at]};
    else if (static_cast<unsigned char>(c) < 0x20)
      out += {'\\', 'u', '0', '0', c < 0x10 ? '0' : '1', "0123456789ABCDEF"[c & 0xf]};
    else
      out += c;
  }
  return out += '"';
}

// Of each length, with each byte at each place.
TEST(json_write, writes_strings_plain_or_not) {
  for (std::size_t length = 0; length <= 26; ++length) {
    std::string text(length, 'x');
    ASSERT_EQ(written(text), as_json_string(text));
    for (char& place : text)
      for (int byte = 0; byte < 256; ++byte) {
        const char before = std::exchange(place, static_cast<char>(byte));
        ASSERT_EQ(written(text), as_json_string(text)) << byte << " in " << length;
        place = before;
      }
  }
}

TEST(json_write, never_writes_nan_or_infinity) {
  using limits = std::numeric_limits<double>;
  EXPECT_EQ(written(std::vector{limits::quiet_NaN(), limits::infinity(), -limits::infinity(), 1.5}),
            "[null,null,null,1.5]");
}

TEST(json_write, is_read_back_as_it_was) {
  const row value{.text = "\u4e2d\U0001F600\\\"",
                  .maybe = std::nullopt,
                  .numbers = {0.1, -1e300, 5e-324, 1.0 / 3, 0},
                  .flag = true,
                  .counts = {{"a", 0}, {"b", std::numeric_limits<std::uint64_t>::max()}}};
  const std::string text = written(value);
  EXPECT_FALSE(text.contains("maybe")) << text;
  const auto back = weft::json::read<row>(text);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, value);
}

TEST(json_write, writes_into_the_room_that_is_given_and_beyond_it_only_where_that_is_too_short) {
  const row value{std::string(300, 'x'), 7, {0.5, 1e300}, true, {{"a", 1}}};
  const std::string text = written(value);
  for (std::size_t size = 0; size <= 7 * text.size(); ++size) {
    const auto room = std::make_unique<char[]>(size);  // sanitizers see its end
    std::string beyond = "<";
    const auto there = weft::json::write_into(value, std::span{room.get(), size}, beyond);
    ASSERT_EQ(there, text) << "in " << size;
    const bool is_beyond = there.data() != room.get();
    EXPECT_EQ(beyond, is_beyond ? "<" + text : "<");
    EXPECT_TRUE(is_beyond || size >= text.size());
    EXPECT_TRUE(!is_beyond || size < 6 * text.size() + 256);
  }
}

// What follows a nested value is written where nothing was asked for.
TEST(json_write, keeps_to_its_room_behind_nested_values) {
  using nested = std::vector<std::vector<std::vector<std::map<std::string, int>>>>;
  for (std::size_t count = 0; count < 80; count += WEFT_SANITIZED ? 7 : 1) {
    const nested value(count, nested::value_type(3, nested::value_type::value_type(2)));
    const std::string text = written(value);
    for (std::size_t size = text.size() - 2; size < text.size() + 300; ++size) {
      const auto room = std::make_unique<char[]>(size);
      std::string beyond;
      ASSERT_EQ(weft::json::write_into(value, std::span{room.get(), size}, beyond), text);
    }
  }
}

}  // namespace

#include <weft/http/http2/field_lengths.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace weft::http::http2 {
namespace {

using namespace std::string_literals;

/// A number behind a full prefix of 7 bits.
std::string long_length(std::uint32_t length, char first = '\x7f') {
  std::string text{first};
  for (length -= 127; length >= 128; length >>= 7)
    text += static_cast<char>((length & 0x7f) | 0x80);
  return text + static_cast<char>(length);
}

bool is_too_long(std::string_view section, std::size_t piece_bytes) {
  field_lengths lengths;
  for (; !section.empty(); section.remove_prefix(std::min(piece_bytes, section.size())))
    if (lengths.walk(section.substr(0, piece_bytes))) return true;
  return false;
}

struct section_case {
  std::string section;
  bool is_too_long;
};

TEST(field_lengths, are_found_however_a_section_is_cut) {
  const std::string most(field_lengths::most_bytes, 'v');
  const std::string before = "\x82\x86\x3f\xe1\x1f"s + "\x04\x02/a"s + "\x40\x01x\x01y"s;
  const section_case all[] = {
      {before, false},
      {before + "\x00\x01x"s + long_length(field_lengths::most_bytes) + most + "\x82"s, false},
      {before + "\x00\x01x"s + long_length(field_lengths::most_bytes + 1), true},
      {before + "\x10\x01x"s + long_length(1'000'000), true},
      {before + "\x40\x01x"s + long_length(70'000, '\xff'), true},  // in Huffman's code
      {before + "\x40"s + long_length(70'000), true},               // a name
      {before + "\x7e"s + long_length(70'000), true},               // a name of the table
      {before + "\x0f\x80\x01"s + long_length(70'000), true},       // of a large index
      {before + "\x40\x00\x00"s + "\x00\x01x"s + long_length(70'000), true},
      {before + "\xff\x80\x80\x80\x01"s, false},                   // an index, and no length
      {before + "\x40\x01x\x7f\xff\xff\xff\xff\xff\x0f"s, false},  // a number that nobody reads
  };
  for (const auto& [section, expected] : all)
    for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, section.size()})
      EXPECT_EQ(is_too_long(section, piece), expected)
          << piece << " bytes at a time of " << ::testing::PrintToString(section.substr(0, 40));
}

}  // namespace
}  // namespace weft::http::http2

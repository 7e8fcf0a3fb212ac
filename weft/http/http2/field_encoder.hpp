// Header sections of replies, as HPACK has them (RFC 7541).
//
// Problem: a reply has few fields, and nearly the same ones each time; looking each of them up in
// a table of those that were sent costs more than writing it. Contract: internal to http. put_*()
// write into memory that has room for what they are given, and give the end of what was written;
// nothing is Huffman-coded. What replies of a connection repeat, their date and their type, goes
// into the dynamic table and is a byte from then on: all that this keeps of the table is where
// those two stand in it. begin() comes first in each header section, and sections are sent in the
// order in which they were written. Fields that mean something to a connection of HTTP/1.1 alone
// are left out (RFC 9113 section 8.2.2). Allocates nothing. One shard.
//
//   char* out = encoder.put_reply(begin, head);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::http {
struct reply_head;
}

namespace weft::http::http2 {

class field_encoder {
 public:
  /// Of a table, unless the client wants less.
  static constexpr std::uint32_t table_most_bytes = 4'096;

  /// What the client has said last, or less: the table is as large as the least.
  void limit_table(std::uint32_t size_bytes) noexcept;

  /// Room that put_reply() needs at most.
  [[nodiscard]] static std::size_t most_bytes(const reply_head& head) noexcept;
  /// All of the section.
  [[nodiscard]] char* put_reply(char* out, const reply_head& head) noexcept;

  static constexpr std::size_t interim_most_bytes = 16;
  /// That of 100 (Continue).
  [[nodiscard]] char* put_continue(char* out) noexcept;

 private:
  static constexpr std::size_t longest_kept = 48;

  /// An entry of the table that was put there last, under its name.
  struct kept {
    std::uint64_t begins_at = 0;  // of all that was ever put in, in bytes
    std::uint32_t number = 0;     // of all entries
    std::uint8_t size = 0;        // 0: there is none
    std::array<char, longest_kept> value;
  };

  char* begin(char* out) noexcept;
  /// `name`: in the static table.
  char* put_repeated(char* out, kept& last, unsigned name, std::size_t name_bytes,
                     std::string_view value) noexcept;
  [[nodiscard]] bool is_in_table(const kept& entry) const noexcept {
    return added_bytes_ - entry.begins_at <= table_bytes_;
  }

  kept date_;
  kept type_;
  std::uint64_t added_bytes_ = 0;
  std::uint32_t added_ = 0;
  std::uint32_t table_bytes_ = table_most_bytes;
  bool table_has_shrunk_ = false;  // and the client is to be told
};

}  // namespace weft::http::http2

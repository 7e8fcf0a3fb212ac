// How long the strings of a header section say they are (RFC 7541 sections 5 and 6).
//
// Problem: nghttp2 refuses a name or value of more than 64 KiB with the error that it has for what
// is no HPACK at all, but the first is a request that is too large and the second is nonsense.
// Contract: internal to http. walk() is given the bytes of a section in pieces of any size, from
// the start of a field on. It reads the lengths and passes over the texts; all other rules are
// nghttp2's to judge. Allocates nothing. One shard.
//
//   field_lengths lengths;
//   const bool is_too_long = lengths.walk(fragment);   // a longer string begins in it
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::http::http2 {

class field_lengths {
 public:
  /// Of a name or a value, as it is sent. nghttp2 takes no more.
  static constexpr std::uint32_t most_bytes = 64 * 1024;

  /// False at the first length that no decoder has to understand, too.
  [[nodiscard]] bool walk(std::string_view bytes) noexcept {
    while (!bytes.empty()) {
      if (step_ == step::text) {
        const std::size_t passed = std::min<std::size_t>(left_, bytes.size());
        bytes.remove_prefix(passed);
        left_ -= static_cast<std::uint32_t>(passed);
        if (left_ == 0) step_ = after_text_;
        continue;
      }
      if (!take(static_cast<std::uint8_t>(bytes.front()))) return false;
      bytes.remove_prefix(1);
      if (step_ == step::text && left_ > most_bytes) return true;
    }
    return false;
  }

 private:
  enum class step : std::uint8_t { field, name_length, value_length, number, text };
  enum class number : std::uint8_t { index, index_of_name, name_length, value_length };
  /// Longer numbers than of 28 bits are errors (RFC 7541 section 5.1).
  static constexpr unsigned number_bits_most = 28;

  /// False: this is nothing.
  [[nodiscard]] bool take(std::uint8_t byte) noexcept {
    switch (step_) {
      case step::field:
        if ((byte & 0x80U) != 0) return begin(number::index, byte, 7);
        if ((byte & 0xe0U) == 0x20U) return begin(number::index, byte, 5);  // the table's size
        return begin(number::index_of_name, byte, (byte & 0x40U) != 0 ? 6 : 4);
      case step::name_length: return begin(number::name_length, byte, 7);
      case step::value_length: return begin(number::value_length, byte, 7);
      default: return go_on(byte);
    }
  }

  bool begin(number what, std::uint8_t byte, unsigned prefix_bits) noexcept {
    const std::uint32_t most = (1U << prefix_bits) - 1;
    what_ = what;
    shift_ = 0;
    left_ = byte & most;
    if (left_ == most)
      step_ = step::number;
    else
      end();
    return true;
  }

  bool go_on(std::uint8_t byte) noexcept {
    if (shift_ >= number_bits_most) return false;
    left_ += (byte & 0x7fU) << shift_;
    shift_ += 7;
    if ((byte & 0x80U) == 0) end();
    return true;
  }

  void end() noexcept {
    switch (what_) {
      case number::index: step_ = step::field; break;
      case number::index_of_name:
        step_ = left_ == 0 ? step::name_length : step::value_length;
        break;
      case number::name_length: begin_text(step::value_length); break;
      case number::value_length: begin_text(step::field); break;
    }
  }

  void begin_text(step after) noexcept {
    after_text_ = after;
    step_ = left_ == 0 ? after : step::text;
  }

  std::uint32_t left_ = 0;  // of a text; or the number that is being read
  unsigned shift_ = 0;
  step step_ = step::field;
  step after_text_ = step::field;
  number what_ = number::index;
};

}  // namespace weft::http::http2

// Writes strings as they stand where nothing in them is to be escaped.
//
// Problem: most strings of replies are short, and glaze goes through what is left of eight bytes
// one by one. Contract: inside of weft/json. A string without a quote, a backslash or a control
// character is copied with a look at eight bytes at a time; any other one is left to glaze, which
// begins anew. Only where write_options ask for it, so that whoever uses glaze beside weft has it
// as it is.
#pragma once

#include <weft/json/reflection.hpp>
#include <weft/json/words.hpp>

#include <glaze/json/write.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weft::json::detail {

/// Copies one to seven bytes, and gives them as those of a word that is padded with spaces.
[[gnu::always_inline]] inline std::uint64_t copy_few(char* to, std::string_view text) noexcept {
  const char* const from = text.data();
  const std::size_t last = text.size() - 1;
  if (last >= 3) {
    std::uint32_t ends[2];
    std::memcpy(&ends[0], from, 4);
    std::memcpy(&ends[1], from + last - 3, 4);
    std::memcpy(to, &ends[0], 4);
    std::memcpy(to + last - 3, &ends[1], 4);
    return ends[0] | std::uint64_t{ends[1]} << 32U;
  }
  const char all[3] = {from[0], from[text.size() / 2], from[last]};
  to[0] = all[0];
  to[text.size() / 2] = all[1];
  to[last] = all[2];
  const auto byte = [&](int at) { return std::uint64_t{static_cast<unsigned char>(all[at])}; };
  return (' ' * each_byte & ~0xff'ff'ffULL) | byte(0) | byte(1) << 8U | byte(2) << 16U;
}

/// False: something in it is to be escaped, and `to` has any mixture.
[[gnu::always_inline]] inline bool copy_plain(char* to, std::string_view text) noexcept {
  constexpr std::size_t step = sizeof(std::uint64_t);
  if (text.empty()) return true;
  if (text.size() < step) return not_plain(copy_few(to, text)) == 0;
  const auto copy_word = [&](std::size_t at) {
    std::uint64_t word = word_at(text.data() + at);
    std::memcpy(to + at, text.data() + at, step);
    return not_plain(word) == 0;
  };
  for (std::size_t at = 0; at < text.size() - step; at += step)
    if (!copy_word(at)) return false;
  return copy_word(text.size() - step);
}

/// What glaze takes for a string and has no writer of ours.
struct glaze_text : std::string {};

}  // namespace weft::json::detail

template <>
struct glz::to<glz::JSON, std::string> {
  static constexpr bool can_error = false;

  template <auto Options>
  static void op(const std::string& text, glz::is_context auto&& context, auto&& out, auto& size) {
    if constexpr (requires { Options.puts_plain_strings; }) {
      // A view, since what is written could be the string's own length, for all the compiler knows.
      const std::string_view plain = text;
      if (!glz::ensure_space(context, out, size + plain.size() + glz::write_padding_bytes)) return;
      char* const begin = &out[size];
      if (weft::json::detail::copy_plain(begin + 1, plain)) [[likely]] {
        begin[0] = '"';
        begin[1 + plain.size()] = '"';
        size += 2 + plain.size();
        return;
      }
    }
    glz::to<glz::JSON, weft::json::detail::glaze_text>::template op<Options>(text, context, out,
                                                                             size);
  }
};

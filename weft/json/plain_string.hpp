// Takes strings as they stand where nothing in them is to be decoded.
//
// Problem: glaze goes through each string twice, and makes it eight bytes longer than it is to be,
// cleared, before it is filled: a third of what a document of short strings costs. Contract: inside
// of weft/json. A string of ASCII without escapes is copied at once; what else there is, faults
// included, is left to glaze, which begins anew. Only where read_options ask for it, so that
// whoever uses glaze beside weft has it as it is.
#pragma once

#include <weft/json/reflection.hpp>

#include <glaze/json/read.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace weft::json::detail {

inline constexpr std::uint64_t each_byte = 0x0101010101010101;
inline constexpr std::uint64_t high_bits = 0x80 * each_byte;

/// Bit 7 of each byte that ends a run of plain characters: a quote, a backslash, a control
/// character. Exact up to the first one, in the order of memory.
constexpr std::uint64_t not_plain(std::uint64_t word) noexcept {
  const auto zeros = [](std::uint64_t w) { return (w - each_byte) & ~w & high_bits; };
  const std::uint64_t controls = (word - 0x20 * each_byte) & ~word & high_bits;
  return zeros(word ^ '"' * each_byte) | zeros(word ^ '\\' * each_byte) | controls;
}

/// The eight bytes at `at`, the first one lowest.
inline std::uint64_t word_at(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = std::byteswap(word);
  return word;
}

/// The quote that ends the string whose text begins at `at`; nullptr: there is something to decode
/// or to refuse before it, or the end of the document is near.
inline const char* plain_string_end(const char* at, const char* end) noexcept {
  for (; end - at >= std::ptrdiff_t{sizeof(std::uint64_t)}; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(at);
    const std::uint64_t stop = not_plain(word) | (word & high_bits);
    if (stop == 0) continue;
    at += std::countr_zero(stop) / 8;
    return *at == '"' ? at : nullptr;
  }
  return nullptr;
}

/// What glaze takes for a string and has no reader of ours.
struct glaze_string : std::string {};

}  // namespace weft::json::detail

template <>
struct glz::from<glz::JSON, std::string> {
  template <auto Options>
  static void op(auto& into, glz::is_context auto& context, auto& at, auto& end) {
    if constexpr (requires { Options.takes_plain_strings; }) {
      if constexpr (!glz::check_opening_handled(Options) && !glz::check_ws_handled(Options))
        if (glz::skip_ws<Options>(context, at, end)) return;
      const bool has_quote = glz::check_opening_handled(Options) || *at == '"';
      const char* const begin = glz::check_opening_handled(Options) ? at : at + 1;
      const char* const quote =
          has_quote ? weft::json::detail::plain_string_end(begin, end) : nullptr;
      if (quote != nullptr) [[likely]] {
        into.assign(begin, static_cast<std::size_t>(quote - begin));
        at = quote + 1;
        return;
      }
    }
    glz::from<glz::JSON, weft::json::detail::glaze_string>::template op<Options>(into, context, at,
                                                                                 end);
  }
};

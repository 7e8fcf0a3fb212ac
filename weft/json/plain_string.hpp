// Takes strings as they stand where nothing in them is to be decoded.
//
// Problem: glaze goes through each string twice, and makes it eight bytes longer than it is to be,
// cleared, before it is filled: a third of what a document of short strings costs. Contract: inside
// of weft/json. A string of ASCII without escapes is copied at once; what else there is, faults
// included, is left to glaze, which begins anew. Only where read_options ask for it, so that
// whoever uses glaze beside weft has it as it is.
#pragma once

#include <weft/json/reflection.hpp>
#include <weft/json/white_space.hpp>

#include <glaze/json/read.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace weft::json::detail {

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

/// Copies as memcpy does, without a call where there is little.
[[gnu::always_inline]] inline void copy_short(char* to, const char* from,
                                              std::size_t size) noexcept {
  if (size > 16) {
    std::memcpy(to, from, size);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else {
    for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
  }
}

[[gnu::always_inline]] inline void assign_short(std::string& to, const char* from,
                                                std::size_t size) {
  to.resize_and_overwrite(size, [from](char* memory, std::size_t all) noexcept {
    copy_short(memory, from, all);
    return all;
  });
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
        weft::json::detail::assign_short(into, begin, static_cast<std::size_t>(quote - begin));
        at = quote + 1;
        return;
      }
    }
    glz::from<glz::JSON, weft::json::detail::glaze_string>::template op<Options>(into, context, at,
                                                                                 end);
  }
};

// What the two halves of the request parser share: the steps of every request (request_parser.cpp)
// and the rare ones (request_parser_rare.cpp). Private to them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <weft/http/field_syntax.hpp>
#include <weft/http/request_parser.hpp>
#include <weft/http/scan.hpp>

namespace weft::http {
namespace detail {

using field_syntax::is_space;

// Positions are kept in 32 bits: limits::head_bytes stays below 4 GiB.
inline std::uint32_t narrow(std::size_t position) noexcept {
  return static_cast<std::uint32_t>(position);
}

// The same, for a byte that is known to be one of field content or a line end.
inline bool is_below_graphic(char c) noexcept { return static_cast<unsigned char>(c) <= ' '; }

// Above 9 for what is no digit.
inline std::uint64_t digit_value(char c) noexcept {
  return static_cast<unsigned char>(c) - std::uint64_t{'0'};
}
inline bool is_digit(char c) noexcept { return digit_value(c) < 10; }

// Without the white space at its end.
inline std::string_view trim_end(std::string_view text) noexcept {
  while (!text.empty() && is_below_graphic(text.back())) text.remove_suffix(1);
  return text;
}

// Up to eight bytes as a number, for one comparison with the bytes of a message.
template <class Word>
Word load(const char* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Names without regard to case: setting bit 5 makes letters small, and no other byte becomes one of
// those. A "-" is compared as it is, since bit 5 would make it of a CR as well. At least so many
// bytes must be there.
inline std::uint32_t four_small(const char* name) noexcept {
  return load<std::uint32_t>(name) | 0x20202020u;
}

inline bool is_host(const char* name) noexcept {
  return four_small(name) == load<std::uint32_t>("host");
}

inline bool is_colon_space(const char* at) noexcept {
  return load<std::uint16_t>(at) == load<std::uint16_t>(": ");
}

inline bool is_connection(const char* name) noexcept {
  return (load<std::uint64_t>(name) | 0x2020202020202020u) == load<std::uint64_t>("connecti") &&
         (load<std::uint16_t>(name + 8) | 0x2020u) == load<std::uint16_t>("on");
}

// Its end first: Content-Type begins in the same way.
inline bool is_content_length(const char* name) noexcept {
  const auto first = load<std::uint64_t>("       \0");  // bit 5, and nothing for the "-"
  const auto second = load<std::uint64_t>(" \0      ");
  return (load<std::uint64_t>(name + 6) | second) == load<std::uint64_t>("t-length") &&
         (load<std::uint64_t>(name) | first) == load<std::uint64_t>("content-");
}

}  // namespace detail

// The reading position of one call, in bytes from the start of the input. `end` is where the input
// ends or, earlier, the limit that holds at the moment: what lies behind a limit is never looked
// at, so the answer cannot depend on how much has arrived.
struct request_parser::cursor {
  const char* text;
  std::size_t size;
  parsed_head* head;
  header_list::entry* next_header;
  header_list::entry* headers_end;
  std::size_t at = 0;
  std::size_t end = 0;
  std::size_t limit = 0;
  // Of the current header line, from the step that finds them.
  std::size_t name = 0;
  std::size_t name_end = 0;
  std::size_t value = 0;

  // At the start, and with the limits of header fields.
  cursor(std::string_view input, parsed_head& into, const limits& bounds) noexcept
      : text{input.data()},
        size{input.size()},
        head{&into},
        next_header{into.headers_.entries_.data()},
        headers_end{next_header + std::min(bounds.headers, header_list::capacity)} {
    set_limit(bounds.head_bytes);
  }

  [[nodiscard]] detail::head_facts& facts() const noexcept { return head->facts_; }
  [[nodiscard]] std::size_t header_count() const noexcept {
    return static_cast<std::size_t>(next_header - head->headers_.entries_.data());
  }
  [[nodiscard]] bool has_room() const noexcept { return next_header != headers_end; }
  void add_header(std::size_t name_at, std::size_t name_to, std::size_t value_at,
                  std::size_t value_to) noexcept {
    *next_header++ = {detail::narrow(name_at), detail::narrow(name_to), detail::narrow(value_at),
                      detail::narrow(value_to)};
  }
  void set_limit(std::size_t bytes) noexcept {
    limit = bytes;
    end = std::min(size, bytes);
  }
  [[nodiscard]] char byte() const noexcept { return text[at]; }
  [[nodiscard]] char byte(std::size_t ahead) const noexcept { return text[at + ahead]; }
  [[nodiscard]] bool has(std::size_t bytes) const noexcept { return at + bytes <= end; }
  [[nodiscard]] bool has_at(std::size_t where, std::size_t bytes) const noexcept {
    return where + bytes <= end;
  }
  // Whether the bytes from `where` to the next `last` are few and of the set; `where` has gone as
  // far as it could.
  template <scan::set Set>
  [[nodiscard, gnu::always_inline]] bool finds(char last, std::size_t& where) const noexcept {
    if (!has_at(where, 17)) return false;
    where = scan::skip_some<Set>(text, where);
    return text[where] == last;
  }
  // Of two bytes that are there.
  [[nodiscard]] bool has_line_end(std::size_t where) const noexcept {
    return detail::load<std::uint16_t>(text + where) == detail::load<std::uint16_t>("\r\n");
  }
  [[nodiscard]] bool is_line_end(std::size_t where) const noexcept {
    return has_at(where, 2) && has_line_end(where);
  }
  [[nodiscard]] std::string_view view(std::size_t from, std::size_t to) const noexcept {
    return {text + from, text + to};
  }
};

}  // namespace weft::http

// The steps of head_parser that every head takes, and what they read by.
//
// They are small functions for the reader, and one function for the processor: inlined, the cursor
// lives in registers, which halves the instructions per head. Rare steps (head_parser.cpp) get a
// copy of the cursor, so that its address never escapes. Private to the parsers' sources.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <weft/http/field_syntax.hpp>
#include <weft/http/head_parser.hpp>
#include <weft/http/scan.hpp>

#define WEFT_HOT [[gnu::always_inline]] inline

namespace weft::http::detail {

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

// The reading position of one call, in bytes from the start of the input. `end` is where the input
// ends or, earlier, the limit that holds at the moment: what lies behind a limit is never looked
// at, so the answer cannot depend on how much has arrived.
struct head_parser::cursor {
  const char* text;
  std::size_t size;
  message_head* head;
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
  cursor(std::string_view input, message_head& into, const limits& bounds) noexcept
      : text{input.data()},
        size{input.size()},
        head{&into},
        next_header{into.headers_.entries_.data()},
        headers_end{next_header + std::min(bounds.headers, header_list::capacity)} {
    into.headers_.base_ = text;
    set_limit(bounds.head_bytes);
  }

  [[nodiscard]] head_facts& facts() const noexcept { return head->facts_; }
  [[nodiscard]] std::size_t header_count() const noexcept {
    return static_cast<std::size_t>(next_header - head->headers_.entries_.data());
  }
  // `head` then has the fields that were read.
  void end_headers() const noexcept {
    facts().size = narrow(at);
    head->headers_.size_ = header_count();
  }
  [[nodiscard]] bool has_room() const noexcept { return next_header != headers_end; }
  void add_header(std::size_t name_at, std::size_t name_to, std::size_t value_at,
                  std::size_t value_to) noexcept {
    *next_header++ = {narrow(name_at), narrow(name_to), narrow(value_at), narrow(value_to)};
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
    return load<std::uint16_t>(text + where) == load<std::uint16_t>("\r\n");
  }
  [[nodiscard]] bool is_line_end(std::size_t where) const noexcept {
    return has_at(where, 2) && has_line_end(where);
  }
  [[nodiscard]] std::string_view view(std::size_t from, std::size_t to) const noexcept {
    return {text + from, text + to};
  }
};

WEFT_HOT void head_parser::go_on(cursor& in) const noexcept {
  in.facts() = facts_;
  in.next_header += header_count_;
  in.at = position_;
  in.name = name_begin_;
  in.name_end = name_end_;
  in.value = value_begin_;
}

template <class Self>
WEFT_HOT bool head_parser::read_headers(this Self& self, cursor& in) noexcept {
  for (;;) {
    // So that no place of the line before must be kept.
    in.name = in.name_end = in.value = in.at;
    const bool is_roomy = in.has(16);
    if (!is_roomy && in.at == in.end) return self.stop(in, step::line_start);
    if (in.byte() == '\r') return self.read_empty_line(in);
    if (is_roomy && self.read_usual_line(in)) continue;
    if (!self.read_name(in) || !self.read_before_value(in) || !self.read_value(in)) return false;
    if (may_matter(in)) [[unlikely]] {
      if (!self.note(last_field(in.text, in.next_header[-1]), in.facts())) return false;
    }
  }
}

template <class Self>
WEFT_HOT bool head_parser::resume_line(this Self& self, cursor& in) noexcept {
  if (self.step_ == step::line_start) return true;
  if (self.step_ == step::name && !self.read_name(in)) return false;
  if (self.step_ <= step::before_value && !self.read_before_value(in)) return false;
  if (!self.read_value(in)) return false;
  return !may_matter(in) || self.note(last_field(in.text, in.next_header[-1]), in.facts());
}

WEFT_HOT head_parser::field_text head_parser::last_field(const char* text,
                                                         const header_list::entry& at) noexcept {
  return {.name_at = at.name,
          .value_at = at.value,
          .name = {text + at.name, text + at.name_end},
          .value = {text + at.value, text + at.value_end}};
}

WEFT_HOT bool head_parser::read_empty_line(cursor& in) noexcept {
  if (!in.has(2)) return stop(in, step::line_start);
  if (in.byte(1) != '\n') return fail(in.at, fault_kind::bare_cr);
  in.at += 2;
  return true;
}

// Content-Length in its usual form, of which 16 bytes are there: up to 18 digits, which cannot
// overflow. With anything unusual about it, or not all of it here, nothing has happened.
WEFT_HOT bool head_parser::read_length_line(cursor& in) noexcept {
  const char* const line = in.text + in.at;
  if (!is_content_length(line) || !is_colon_space(line + 14)) return false;
  const std::size_t value = in.at + 16;
  std::size_t at = value;
  std::uint64_t length = 0;
  for (; at != in.end && is_digit(in.text[at]); ++at)
    length = length * 10 + digit_value(in.text[at]);
  if (at - value - 1 >= 18) return false;
  if (!in.is_line_end(at) || !in.has_room() || in.facts().has(has_content_length)) return false;
  in.add_header(in.at, in.at + 14, value, at);
  in.facts().set(has_content_length);
  in.facts().content_length = length;
  in.at = at + 2;
  return true;
}

WEFT_HOT bool head_parser::read_name(cursor& in) noexcept {
  if (!in.finds<scan::set::token>(':', in.at) || in.at == in.name) {
    in.at = scan::skip<scan::set::token>(in.text, in.at, in.end);
    if (in.at == in.end) return stop(in, step::name);
    if (in.byte() != ':' || in.at == in.name) return fail_name(in);
  }
  in.name_end = in.at++;
  return true;
}

WEFT_HOT bool head_parser::read_before_value(cursor& in) noexcept {
  // So many that the scan of the value need not ask again.
  if (in.has(17) && in.byte() == ' ' && !is_below_graphic(in.byte(1))) [[likely]] {
    ++in.at;
  } else {
    while (in.at != in.end && is_space(in.byte())) ++in.at;
    if (in.at == in.end) return stop(in, step::before_value);
  }
  in.value = in.at;
  return true;
}

WEFT_HOT bool head_parser::read_value(cursor& in) noexcept {
  in.at = scan::skip<scan::set::field>(in.text, in.at, in.end);
  if (!in.is_line_end(in.at)) return fail_value(in);
  if (!in.has_room()) return fail(in.name, fault_kind::too_many_headers);
  std::size_t value_end = in.at;
  if (is_below_graphic(in.text[value_end - 1])) [[unlikely]]
    value_end = in.value + trim_end(in.view(in.value, value_end)).size();
  in.add_header(in.name, in.name_end, in.value, value_end);
  in.at += 2;
  return true;
}

WEFT_HOT bool head_parser::may_matter(const cursor& in) noexcept {
  // The first letter of the one name of each size that matters.
  static constexpr char first_letters[] = "\0\0\0\0h\0e\0\0\0c\0\0\0c\0\0t";
  const std::size_t size = in.name_end - in.name;
  return size <= 17 && (in.text[in.name] | 0x20) == first_letters[size];
}

}  // namespace weft::http::detail

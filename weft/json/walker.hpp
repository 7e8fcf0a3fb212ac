// A strict recogniser of JSON (RFC 8259) that knows where it is. Inside of weft/json.
//
// Problem: the reader is fast because it does not keep track of places, and reports what it tripped
// over rather than what is wrong. Contract: walks a text token by token without allocating or
// recursing, up to the first byte that is not JSON or to the token that holds a given byte, and
// then tells the token and its path. Nothing is shared with the reader, so each is a check on the
// other: see json_read_fuzz.cpp.
//
//   walker walk{text};
//   if (!walk.to_end()) return walk.failure();
#pragma once

#include <weft/json/error.hpp>

#include <cstddef>
#include <string_view>

namespace weft::json::detail {

[[nodiscard]] constexpr bool is_digit(char byte) noexcept { return byte >= '0' && byte <= '9'; }

class walker {
 public:
  explicit walker(std::string_view text) noexcept : text_(text) {}

  // Call one of the three, once. True: all of the text is one JSON value.
  [[nodiscard]] bool to_end() noexcept { return walk(text_.size()) == outcome::ended; }
  // True: what comes before the end of the token that holds byte `offset` may begin a JSON value.
  [[nodiscard]] bool past(std::size_t offset) noexcept { return walk(offset) != outcome::failed; }
  // True: stands at the token that holds byte `offset`, or at the first one after it.
  [[nodiscard]] bool to_token(std::size_t offset) noexcept {
    return walk(offset) == outcome::stopped;
  }

  // After a walk: the token stood at and its path. A name counts as the member it names.
  [[nodiscard]] std::string_view token() const noexcept {
    return text_.substr(token_, position_ - token_);
  }
  [[nodiscard]] std::size_t offset() const noexcept { return token_; }
  [[nodiscard]] bool at_name() const noexcept { return expect_ == expect::colon; }
  [[nodiscard]] pointer path() const noexcept;

  // After a walk that met something else than JSON.
  [[nodiscard]] error failure() const noexcept;

 private:
  enum class outcome : unsigned char { ended, stopped, failed };
  enum class expect : unsigned char {
    value,
    value_or_close,  // just inside of an array
    name,
    name_or_close,  // just inside of an object
    colon,
    next_or_close,
    end,
  };
  struct level {
    bool is_object = false;
    bool has_name = false;
    std::size_t index = 0;  // of the element
    std::string_view name;  // of the member, between its quotes
  };

  outcome walk(std::size_t stop) noexcept;
  bool step() noexcept;
  bool value(char first) noexcept;
  bool open(bool is_object) noexcept;
  bool close(char bracket) noexcept;
  bool next(char separator) noexcept;
  bool name(char first) noexcept;
  bool string() noexcept;
  bool escape() noexcept;
  bool hex4(unsigned& unit) noexcept;
  bool utf8() noexcept;
  bool number() noexcept;
  bool digits() noexcept;
  bool literal(std::string_view word) noexcept;
  void skip_white_space() noexcept;
  bool fail(errc code, std::string_view what) noexcept;
  bool fail_expecting(std::string_view what) noexcept;

  [[nodiscard]] bool at_end() const noexcept { return position_ == text_.size(); }
  [[nodiscard]] char here() const noexcept { return at_end() ? '\0' : text_[position_]; }
  void value_ends() noexcept { expect_ = depth_ == 0 ? expect::end : expect::next_or_close; }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t token_ = 0;
  std::size_t stop_ = 0;
  std::size_t depth_ = 0;
  expect expect_ = expect::value;
  bool stopped_ = false;
  errc code_ = errc::syntax;
  std::string_view what_;
  level levels_[max_depth];
};

}  // namespace weft::json::detail

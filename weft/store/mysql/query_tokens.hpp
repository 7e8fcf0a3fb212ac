// The tokens of a query in SQL, as MySQL finds them.
//
// Problem: what a query may do is judged by its words, so the words must be those that the server
// reads. Contract: takes any bytes apart in one pass, without an allocation (MySQL 8.0 Reference
// Manual, chapter 9). Comments and blanks are skipped. A comment that the server would run, and a
// quote or comment that does not end, is a token of the kind `bad`.
//
//   token_reader tokens{"SELECT a FROM t"};
//   for (token each = tokens.next(); each.is != token_kind::end; each = tokens.next()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::store::mysql {

enum class token_kind : std::uint8_t { end, word, quoted_name, text, parameter, named, sign, bad };

struct token {
  token_kind is = token_kind::end;
  /// Of a quoted name, without its quotes; of a named parameter, without its colon.
  std::string_view text{};
  std::size_t at = 0;  // where it begins
};

class token_reader {
 public:
  explicit token_reader(std::string_view text) noexcept : text_{text} {}

  [[nodiscard]] token next() noexcept;

 private:
  token made(token_kind is, std::size_t begin, std::size_t end) noexcept;
  token quoted(char quote) noexcept;
  [[nodiscard]] std::size_t end_of_name(std::size_t from) const noexcept;
  [[nodiscard]] bool has(std::string_view what) const noexcept;
  [[nodiscard]] bool skip_blanks() noexcept;

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Without the case of ASCII letters.
[[nodiscard]] bool is_same_word(std::string_view left, std::string_view right) noexcept;
/// `text` is lower-case. A quoted name is no keyword.
[[nodiscard]] bool is_word(const token& of, std::string_view text) noexcept;
[[nodiscard]] bool is_sign(const token& of, std::string_view text) noexcept;
[[nodiscard]] bool is_name(const token& of) noexcept;
/// Of a word or a quoted name, in which two backticks stand for one.
[[nodiscard]] std::string name_of(const token& named);
/// Of a word that begins with a digit: 12, 0x1f, 0b10, 1e5, and what stands before the sign in
/// 1e-5.
[[nodiscard]] bool is_number(std::string_view word) noexcept;

}  // namespace weft::store::mysql

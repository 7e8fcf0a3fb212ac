#include <weft/store/mysql/query_tokens.hpp>

#include <algorithm>

namespace weft::store::mysql {
namespace {

constexpr char lower_letter(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
}

constexpr bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// What makes a comment of two dashes that stand before it.
constexpr bool ends_dashes(char c) noexcept {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
}

constexpr bool is_of_name(char c) noexcept {
  return (c >= '0' && c <= '9') || (lower_letter(c) >= 'a' && lower_letter(c) <= 'z') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

std::size_t digits_at(std::string_view text, std::size_t from) noexcept {
  std::size_t end = from;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return end;
}

}  // namespace

bool is_same_word(std::string_view left, std::string_view right) noexcept {
  return std::ranges::equal(left, right, {}, &lower_letter, &lower_letter);
}

bool is_word(const token& of, std::string_view text) noexcept {
  return of.is == token_kind::word && is_same_word(of.text, text);
}

bool is_sign(const token& of, std::string_view text) noexcept {
  return of.is == token_kind::sign && of.text == text;
}

bool is_name(const token& of) noexcept {
  return of.is == token_kind::word || of.is == token_kind::quoted_name;
}

std::string name_of(const token& named) {
  if (named.is == token_kind::word) return std::string{named.text};
  std::string name;
  for (std::size_t i = 0; i < named.text.size(); ++i) {
    name += named.text[i];
    if (named.text[i] == '`') ++i;
  }
  return name;
}

bool is_number(std::string_view word) noexcept {
  const auto has_only = [&](std::string_view allowed) {
    return word.size() > 2 && word.find_first_not_of(allowed, 2) == std::string_view::npos;
  };
  if (word.starts_with("0x")) return has_only("0123456789abcdefABCDEF");
  if (word.starts_with("0b")) return has_only("01");
  const std::size_t end = digits_at(word, 0);
  if (end == word.size()) return true;
  return lower_letter(word[end]) == 'e' && digits_at(word, end + 1) == word.size();
}

token token_reader::next() noexcept {
  if (!skip_blanks()) return made(token_kind::bad, at_, text_.size());
  if (at_ == text_.size()) return {.at = at_};
  const std::size_t begin = at_;
  const char first = text_[at_];
  if (first == '\'' || first == '"' || first == '`') return quoted(first);
  if (first == '?') return made(token_kind::parameter, begin, begin + 1);
  if (first == ':' && begin + 1 < text_.size() && is_of_name(text_[begin + 1]))
    return made(token_kind::named, begin, end_of_name(begin + 1));
  if (is_of_name(first)) return made(token_kind::word, begin, end_of_name(begin));
  return made(token_kind::sign, begin, begin + 1);
}

token token_reader::made(token_kind is, std::size_t begin, std::size_t end) noexcept {
  at_ = end;
  const std::size_t skipped = is == token_kind::named ? 1 : 0;
  return {is, text_.substr(begin + skipped, end - begin - skipped), begin};
}

std::size_t token_reader::end_of_name(std::size_t from) const noexcept {
  while (from < text_.size() && is_of_name(text_[from])) ++from;
  return from;
}

bool token_reader::has(std::string_view what) const noexcept {
  return text_.substr(at_).starts_with(what);
}

/// And comments. False: the server would run one, or one does not end.
bool token_reader::skip_blanks() noexcept {
  for (;;) {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const bool is_dashes = has("--") && (at_ + 2 == text_.size() || ends_dashes(text_[at_ + 2]));
    if (is_dashes || has("#")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (has("/*")) {
      if (has("/*!") || has("/*M!") || has("/*+")) return false;
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return false;
      at_ = end + 2;
    } else {
      return true;
    }
  }
}

token token_reader::quoted(char quote) noexcept {
  const std::size_t begin = at_;
  std::size_t end = begin + 1;
  for (;; ++end) {
    if (end >= text_.size()) return made(token_kind::bad, begin, text_.size());
    if (text_[end] == '\\' && quote != '`') {
      ++end;
    } else if (text_[end] == quote) {
      if (end + 1 >= text_.size() || text_[end + 1] != quote) break;
      ++end;
    }
  }
  at_ = end + 1;
  const auto is = quote == '`' ? token_kind::quoted_name : token_kind::text;
  return {is, text_.substr(begin + 1, end - begin - 1), begin};
}

}  // namespace weft::store::mysql

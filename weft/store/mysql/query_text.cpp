#include <weft/store/mysql/query_text.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/base/format.hpp>

namespace weft::store::mysql {
namespace {

using failed = std::unexpected<std::string>;

constexpr std::array<std::string_view, 4> beginnings{"select", "with", "values", "table"};
constexpr std::array<std::string_view, 20> forbidden_functions{"sleep",
                                                               "benchmark",
                                                               "get_lock",
                                                               "release_lock",
                                                               "is_free_lock",
                                                               "is_used_lock",
                                                               "release_all_locks",
                                                               "load_file",
                                                               "nextval",
                                                               "setval",
                                                               "lastval",
                                                               "master_pos_wait",
                                                               "source_pos_wait",
                                                               "master_gtid_wait",
                                                               "wait_for_executed_gtid_set",
                                                               "last_insert_id",
                                                               "user",
                                                               "session_user",
                                                               "system_user",
                                                               "connection_id"};
/// Which may be called without brackets.
constexpr std::array<std::string_view, 2> accounts{"current_user", "current_role"};

constexpr char lower_letter(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
}

bool is_same_word(std::string_view left, std::string_view right) noexcept {
  return std::ranges::equal(left, right, {}, &lower_letter, &lower_letter);
}

template <class Names>
bool is_in(std::string_view name, const Names& names) noexcept {
  return std::ranges::any_of(names,
                             [&](std::string_view each) { return is_same_word(name, each); });
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

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::size_t digits_at(std::string_view text, std::size_t from) noexcept {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end;
}

/// Of a word that begins with a digit: 12, 0x1f, 0b10, 1e5, and what stands before the sign in
/// 1e-5.
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

bool has_other_letters(std::string_view name) noexcept {
  return std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

/// Whether it may be the server's name for the database. How it folds the case of letters that are
/// not of ASCII is not known: all such names may be the same.
bool may_name(std::string_view name, const std::string& database) noexcept {
  return is_same_word(name, database) || (has_other_letters(name) && has_other_letters(database));
}

/// What is between backticks, where two of them stand for one.
std::string without_quotes(std::string_view quoted) {
  std::string name;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    name += quoted[i];
    if (quoted[i] == '`') ++i;
  }
  return name;
}

enum class token_kind : std::uint8_t { end, word, quoted_name, text, parameter, named, sign, bad };

struct token {
  token_kind is = token_kind::end;
  /// Of a quoted name, without its quotes; of a named parameter, without its colon.
  std::string_view text{};
  std::size_t at = 0;  // where it begins
};

/// Takes a query apart, from its front.
class token_reader {
 public:
  explicit token_reader(std::string_view text) noexcept : text_{text} {}

  [[nodiscard]] token next() {
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
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

 private:
  token made(token_kind is, std::size_t begin, std::size_t end) noexcept {
    at_ = end;
    const std::size_t skipped = is == token_kind::named ? 1 : 0;
    return {is, text_.substr(begin + skipped, end - begin - skipped), begin};
  }
  [[nodiscard]] std::size_t end_of_name(std::size_t from) const noexcept {
    while (from < text_.size() && is_of_name(text_[from])) ++from;
    return from;
  }
  [[nodiscard]] bool has(std::string_view what) const noexcept {
    return text_.substr(at_).starts_with(what);
  }
  /// And comments. False: one is of a kind that is not let through, or does not end.
  bool skip_blanks() noexcept {
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
  token quoted(char quote) noexcept {
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

  std::string_view text_;
  std::size_t at_ = 0;
};

class query_reader {
 public:
  query_reader(const query_request& request, std::span<const std::string> others)
      : request_{request},
        others_{others},
        are_named_{!request.parameters.empty() && !request.parameters.front().name.empty()},
        is_used_(request.parameters.size()) {}

  std::expected<query_text, std::string> read() {
    token_reader tokens{request_.text};
    token before{};
    for (token here = tokens.next();; earlier_ = before, before = here, here = next_) {
      if (here.is == token_kind::end) break;
      next_ = tokens.next();
      if (auto why = judge(before, here); !why.empty()) return failed{std::move(why)};
    }
    if (!has_begun_) return failed{"the query is empty: write a SELECT"};
    if (auto why = judge_parameters(); !why.empty()) return failed{std::move(why)};
    made_.sql.append(request_.text.substr(copied_));
    return std::move(made_);
  }

 private:
  /// Nothing: it goes through.
  std::string judge(const token& before, const token& here) {
    switch (here.is) {
      case token_kind::bad:
        return weft::format(
            "the query has, at byte {}, a quote or a comment that does not end, or a comment that "
            "is run",
            here.at);
      case token_kind::sign:
        if (here.text == "@")
          return "variables (@) are not to be had: bind a value to a parameter, :name";
        if (here.text == "(") return {};
        break;
      case token_kind::word:
      case token_kind::quoted_name:
        if (auto why = judge_name(before, here); !why.empty()) return why;
        break;
      case token_kind::parameter:
      case token_kind::named: return take_parameter(here);
      case token_kind::text:
      case token_kind::end: break;
    }
    if (has_begun_) return {};
    has_begun_ = true;
    const bool is_reading = here.is == token_kind::word && is_in(here.text, beginnings);
    return is_reading ? std::string{} : std::string{"a query may only read, by SELECT"};
  }

  std::string judge_name(const token& before, const token& here) const {
    const bool is_word = here.is == token_kind::word;
    const bool is_after_point = before.is == token_kind::sign && before.text == ".";
    if (is_sign(next_, ".") && is_other_database(here))
      return weft::format(
          "{} is another database: a query reads the tables of its own ({}); if it is an alias, "
          "name it otherwise",
          here.text, request_.database);
    const bool is_account = is_in(name_of(here), accounts);
    if (is_sign(next_, "(") && (is_account || is_in(name_of(here), forbidden_functions)))
      return weft::format("{}() is not to be had in a query", here.text);
    if (is_glued_to_number(here, is_after_point))
      return weft::format("{} stands behind a number: write 1.0, and names in backticks",
                          here.text);
    if (!is_word || is_after_point) return {};
    if (is_account) return weft::format("{} is not to be had in a query", here.text);
    if (is_same_word(here.text, "into") || is_same_word(here.text, "procedure"))
      return weft::format("a query may only read, by SELECT: without {}", here.text);
    const bool is_locking =
        next_.is == token_kind::word &&
        ((is_same_word(here.text, "for") &&
          (is_same_word(next_.text, "update") || is_same_word(next_.text, "share"))) ||
         (is_same_word(here.text, "lock") && is_same_word(next_.text, "in")));
    if (is_locking) return "a query takes no locks: leave FOR UPDATE or LOCK IN SHARE MODE out";
    const bool is_counting =
        next_.is == token_kind::word && is_same_word(next_.text, "value") &&
        (is_same_word(here.text, "next") || is_same_word(here.text, "previous"));
    return is_counting ? "a query counts no sequence on" : std::string{};
  }

  /// MySQL takes "1." and "1e5" for numbers, and what follows for a word of its own.
  [[nodiscard]] bool is_glued_to_number(const token& word, bool is_after_point) const noexcept {
    if (word.is != token_kind::word) return false;
    if (is_digit(word.text.front())) return !is_number(word.text);
    return is_after_point && earlier_.is == token_kind::word && is_digit(earlier_.text.front());
  }

  [[nodiscard]] static std::string name_of(const token& named) {
    return named.is == token_kind::quoted_name ? without_quotes(named.text)
                                               : std::string{named.text};
  }

  [[nodiscard]] bool is_other_database(const token& named) const {
    const std::string name = name_of(named);
    // As files are named: MariaDB takes it for the database that is called the rest.
    if (name.starts_with("#mysql50#")) return true;
    return name != request_.database && std::ranges::any_of(others_, [&](const std::string& each) {
             return may_name(name, each);
           });
  }

  static bool is_sign(const token& of, std::string_view text) noexcept {
    return of.is == token_kind::sign && of.text == text;
  }

  std::string take_parameter(const token& here) {
    const std::span given = request_.parameters;
    const bool is_named = here.is == token_kind::named;
    made_.sql.append(request_.text.substr(copied_, here.at - copied_)).append("?");
    copied_ = here.at + here.text.size() + (is_named ? 1 : 0);
    if (!is_named) {
      if (are_named_)
        return weft::format("parameter {} has no name: give a list of values", ++places_);
      if (places_ < given.size()) made_.parameters.push_back(given[places_].bound);
      ++places_;
      return {};
    }
    const auto found = std::ranges::find(given, here.text, &query_parameter::name);
    if (found == given.end())
      return weft::format("no value is given for the parameter :{}", here.text);
    is_used_[static_cast<std::size_t>(found - given.begin())] = true;
    made_.parameters.push_back(found->bound);
    return {};
  }

  [[nodiscard]] std::string judge_parameters() const {
    const std::span given = request_.parameters;
    if (!are_named_)
      return places_ == given.size()
                 ? std::string{}
                 : weft::format("the query takes {} parameters, and {} are given", places_,
                                given.size());
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!is_used_[i]) return weft::format("the query has no parameter named {}", given[i].name);
    return {};
  }

  const query_request& request_;
  std::span<const std::string> others_;
  bool are_named_;
  std::vector<bool> is_used_;
  token earlier_;  // before the one before
  token next_;
  query_text made_;
  std::size_t copied_ = 0;  // of the text, into made_.sql
  std::size_t places_ = 0;  // question marks
  bool has_begun_ = false;
};

}  // namespace

std::expected<query_text, std::string> read_query_text(const query_request& request,
                                                       std::span<const std::string> others) {
  if (request.text.size() > query_bytes_max)
    return failed{weft::format("the query has {} bytes; at most {} are allowed",
                               request.text.size(), query_bytes_max)};
  if (const auto nul = request.text.find('\0'); nul != std::string_view::npos)
    return failed{
        weft::format("the query has a NUL, at byte {}: bind such a value to a parameter", nul)};
  return query_reader{request, others}.read();
}

}  // namespace weft::store::mysql

#include <weft/store/sqlite/query_shape.hpp>

#include <algorithm>

namespace weft::store::sqlite {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

constexpr bool is_of_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

constexpr bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_select(std::string_view word) noexcept {
  static constexpr std::string_view select = "select";
  return std::ranges::equal(word, select, [](char a, char b) { return (a | 0x20) == b; });
}

class query_tokens {
 public:
  explicit query_tokens(std::string_view text) noexcept : left_{text} {}

  query_shape measure() noexcept {
    while (!left_.empty()) take_token();
    return shape_;
  }

 private:
  void take_token() noexcept {
    switch (left_.front()) {
      case '(': return open();
      case ')': return close();
      case '\'':
      case '"':
      // A quote that is doubled ends one text and begins the next.
      case '`': return skip_to(left_.front(), 1);
      case '[': return skip_to(']', 1);
      case '$':
      case '@':
      case '#':
      case ':': return take_parameter();
      case '-': return left_.starts_with("--") ? skip_to('\n', 2) : left_.remove_prefix(1);
      case '/': return left_.starts_with("/*") ? skip_comment() : left_.remove_prefix(1);
      default: return take_word();
    }
  }

  void open() noexcept {
    shape_.parentheses = std::max(shape_.parentheses, ++open_);
    left_.remove_prefix(1);
  }
  void close() noexcept {
    if (open_ > 0) --open_;
    left_.remove_prefix(1);
  }

  void skip_to(char end, std::size_t from) noexcept {
    const std::size_t found = left_.find(end, from);
    left_.remove_prefix(std::min(left_.size(), found == left_.npos ? found : found + 1));
  }
  void skip_comment() noexcept {
    const std::size_t found = left_.find("*/", 2);
    left_.remove_prefix(found == left_.npos ? left_.size() : found + 2);
  }

  /// `:name`, and as Tcl has them `$space::name(any but white space)`.
  void take_parameter() noexcept {
    std::size_t end = 1;
    bool has_name = false;
    for (; end < left_.size(); ++end) {
      const char c = left_[end];
      if (c == '(' && has_name) {
        while (++end < left_.size() && !is_space(left_[end]) && left_[end] != ')') {}
        if (end < left_.size() && left_[end] == ')') ++end;
        break;
      }
      if (c == ':' && end + 1 < left_.size() && left_[end + 1] == ':') {
        ++end;
        continue;
      }
      if (!is_of_name(c)) break;
      has_name = true;
    }
    left_.remove_prefix(end);
  }

  void take_word() noexcept {
    if (left_.starts_with(byte_order_mark)) return left_.remove_prefix(byte_order_mark.size());
    const auto end = std::ranges::find_if_not(left_, is_of_name);
    const auto size = static_cast<std::size_t>(end - left_.begin());
    if (is_select(left_.substr(0, size))) ++shape_.selects;
    left_.remove_prefix(std::max<std::size_t>(size, 1));
  }

  std::string_view left_;
  query_shape shape_;
  std::size_t open_ = 0;
};

}  // namespace

query_shape shape_of(std::string_view text) noexcept { return query_tokens{text}.measure(); }

}  // namespace weft::store::sqlite

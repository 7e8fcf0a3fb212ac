#include <weft/service/config_depth.hpp>

#include <algorithm>

namespace weft::detail {
namespace {

class depth_scan {
 public:
  explicit depth_scan(std::string_view text) noexcept : text_{text} {}

  std::optional<text_place> run() noexcept {
    for (; at_ < text_.size(); ++at_)
      if (!step(text_[at_])) return text_place{line_, at_ - line_begin_ + 1};
    return std::nullopt;
  }

 private:
  /// False: this is the one that is too deep. May go on to the end of what begins here.
  bool step(char c) noexcept {
    switch (c) {
      case '\n':
        begin_line();
        dots_ = 0;
        return true;
      case '#': at_ = std::min(text_.find('\n', at_), text_.size()) - 1; return true;
      case '"':
      case '\'': skip_string(c); return true;
      case '[':
      case '{': dots_ = 0; return ++open_ <= config_depth_max;
      case ']':
      case '}':
        dots_ = 0;
        open_ -= open_ > 0 ? 1 : 0;
        return true;
      case '=':
      case ',': dots_ = 0; return true;
      case '.': return ++dots_ < config_depth_max;
      default: return true;
    }
  }

  void begin_line() noexcept {
    ++line_;
    line_begin_ = at_ + 1;
  }

  [[nodiscard]] bool is_tripled(char quote) const noexcept {
    return at_ + 2 < text_.size() && text_[at_ + 1] == quote && text_[at_ + 2] == quote;
  }

  /// To its last character; where it has no end, to the end of its line or of the text.
  void skip_string(char quote) noexcept {
    const bool has_lines = is_tripled(quote);
    at_ += has_lines ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        if (!has_lines) {
          --at_;
          return;
        }
        begin_line();
      } else if (text_[at_] == '\\' && quote == '"' && at_ + 1 < text_.size() &&
                 text_[at_ + 1] != '\n') {
        ++at_;
      } else if (text_[at_] == quote && (!has_lines || is_tripled(quote))) {
        if (has_lines) skip_last_quotes(quote);
        return;
      }
    }
  }

  /// Up to two quotes may stand before the three that end it.
  void skip_last_quotes(char quote) noexcept {
    at_ += 2;
    for (int i = 0; i < 2 && at_ + 1 < text_.size() && text_[at_ + 1] == quote; ++i) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_begin_ = 0;
  std::size_t dots_ = 0;
  std::size_t open_ = 0;
};

}  // namespace

bool is_too_deep(std::string_view path) noexcept {
  return static_cast<std::size_t>(std::ranges::count(path, '.')) >= config_depth_max;
}

std::optional<text_place> find_too_deep(std::string_view toml) noexcept {
  return depth_scan{toml}.run();
}

}  // namespace weft::detail

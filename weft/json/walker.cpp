#include <weft/json/walker.hpp>

namespace weft::json::detail {

namespace {

unsigned byte_at(std::string_view text, std::size_t index) noexcept {
  return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
}

}  // namespace

walker::outcome walker::walk(std::size_t stop) noexcept {
  stop_ = stop;
  for (;;) {
    skip_white_space();
    token_ = position_;
    if (at_end()) {
      if (expect_ == expect::end) return outcome::ended;
      fail(errc::truncated, text_.empty() ? "the text is empty" : "the text ends too early");
      return outcome::failed;
    }
    if (!step()) return outcome::failed;
    if (stopped_ || stop_ < position_) return outcome::stopped;
  }
}

bool walker::step() noexcept {
  const char first = here();
  switch (expect_) {
    case expect::value_or_close:
      if (first == ']') return close(first);
      return value(first);
    case expect::value: return value(first);
    case expect::name_or_close:
      if (first == '}') return close(first);
      return name(first);
    case expect::name: return name(first);
    case expect::colon:
      if (first != ':') return fail_expecting("expected a colon after the name");
      ++position_;
      expect_ = expect::value;
      return true;
    case expect::next_or_close: return next(first);
    case expect::end: break;
  }
  return fail(errc::trailing_content, "something follows the value");
}

bool walker::value(char first) noexcept {
  switch (first) {
    case '{': return open(true);
    case '[': return open(false);
    case '"':
      if (!string()) return false;
      break;
    case 't':
      if (!literal("true")) return false;
      break;
    case 'f':
      if (!literal("false")) return false;
      break;
    case 'n':
      if (!literal("null")) return false;
      break;
    default:
      if (first != '-' && !is_digit(first)) return fail_expecting("expected a value");
      if (!number()) return false;
  }
  value_ends();
  return true;
}

bool walker::open(bool is_object) noexcept {
  if (depth_ == max_depth) return fail(errc::too_deep, "objects and arrays are nested too deep");
  ++position_;
  if (stop_ < position_) {  // the bracket stands for the whole value, whose path ends outside of it
    stopped_ = true;
    return true;
  }
  levels_[depth_] = level{};
  levels_[depth_++].is_object = is_object;
  expect_ = is_object ? expect::name_or_close : expect::value_or_close;
  return true;
}

bool walker::close(char bracket) noexcept {
  const bool matches = levels_[depth_ - 1].is_object == (bracket == '}');
  if (!matches) return fail_expecting("the closing bracket does not match");
  ++position_;
  --depth_;
  value_ends();
  return true;
}

bool walker::next(char separator) noexcept {
  if (separator == '}' || separator == ']') return close(separator);
  level& inner = levels_[depth_ - 1];
  if (separator != ',') {
    return fail_expecting(inner.is_object ? "expected a comma or }" : "expected a comma or ]");
  }
  ++position_;
  if (stop_ < position_) {
    stopped_ = true;
    return true;
  }
  ++inner.index;
  inner.has_name = false;
  expect_ = inner.is_object ? expect::name : expect::value;
  return true;
}

bool walker::name(char first) noexcept {
  if (first != '"') return fail_expecting("expected a name in double quotes");
  if (!string()) return false;
  level& inner = levels_[depth_ - 1];
  inner.name = text_.substr(token_ + 1, position_ - token_ - 2);
  inner.has_name = true;
  expect_ = expect::colon;
  return true;
}

bool walker::string() noexcept {
  ++position_;
  while (!at_end()) {
    const unsigned byte = byte_at(text_, position_);
    if (byte == '"') {
      ++position_;
      return true;
    }
    if (byte < 0x20) return fail(errc::syntax, "control characters must be escaped");
    if (byte == '\\') {
      if (!escape()) return false;
    } else if (byte < 0x80) {
      ++position_;
    } else if (!utf8()) {
      return fail(errc::invalid_utf8, "the string is not UTF-8");
    }
  }
  return fail(errc::truncated, "the string has no end");
}

// RFC 8259 section 7. A surrogate without its partner has no UTF-8 form, so it is refused.
bool walker::escape() noexcept {
  ++position_;
  const char kind = here();
  if (at_end()) return fail(errc::truncated, "the string has no end");
  if (std::string_view{"\"\\/bfnrt"}.contains(kind)) {
    ++position_;
    return true;
  }
  if (kind != 'u') return fail(errc::syntax, "there is no such escape");
  unsigned unit = 0;
  if (!hex4(unit)) return false;
  if (unit < 0xD800 || unit > 0xDFFF) return true;
  if (unit > 0xDBFF || here() != '\\' || byte_at(text_, position_ + 1) != 'u') {
    return fail(errc::syntax, "half of a surrogate pair");
  }
  ++position_;
  if (!hex4(unit)) return false;
  if (unit < 0xDC00 || unit > 0xDFFF) return fail(errc::syntax, "half of a surrogate pair");
  return true;
}

bool walker::hex4(unsigned& unit) noexcept {
  ++position_;
  unit = 0;
  for (int i = 0; i < 4; ++i, ++position_) {
    const char digit = here();
    const char lower = static_cast<char>(digit | 0x20);
    if (is_digit(digit)) {
      unit = unit * 16 + static_cast<unsigned>(digit - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      unit = unit * 16 + static_cast<unsigned>(lower - 'a' + 10);
    } else {
      return fail_expecting("expected four hexadecimal digits");
    }
  }
  return true;
}

// RFC 3629 section 4: the shortest form only, no surrogates, nothing above U+10FFFF.
bool walker::utf8() noexcept {
  const unsigned first = byte_at(text_, position_);
  const unsigned second = byte_at(text_, position_ + 1);
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return false;
  }
  if (second < low || second > high) return false;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text_, position_ + i) & 0xC0) != 0x80) return false;
  }
  position_ += length;
  return true;
}

bool walker::number() noexcept {
  if (here() == '-') ++position_;
  if (here() == '0') {
    ++position_;
    if (is_digit(here())) return fail(errc::syntax, "a number must not start with 0");
  } else if (!digits()) {
    return false;
  }
  if (here() == '.') {
    ++position_;
    if (!digits()) return false;
  }
  if (here() == 'e' || here() == 'E') {
    ++position_;
    if (here() == '+' || here() == '-') ++position_;
    if (!digits()) return false;
  }
  return true;
}

bool walker::digits() noexcept {
  if (!is_digit(here())) return fail_expecting("expected a digit");
  while (is_digit(here())) ++position_;
  return true;
}

bool walker::literal(std::string_view word) noexcept {
  for (const char letter : word) {
    if (here() != letter) return fail_expecting("expected a value");
    ++position_;
  }
  return true;
}

void walker::skip_white_space() noexcept {
  for (; !at_end(); ++position_)
    if (const char byte = here(); byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t')
      return;
}

bool walker::fail(errc code, std::string_view what) noexcept {
  code_ = code;
  what_ = what;
  return false;
}

bool walker::fail_expecting(std::string_view what) noexcept {
  return at_end() ? fail(errc::truncated, "the text ends too early") : fail(errc::syntax, what);
}

pointer walker::path() const noexcept {
  pointer result;
  for (std::size_t i = 0; i < depth_; ++i) {
    const level& each = levels_[i];
    if (!each.is_object) {
      result.push_index(each.index);
    } else if (each.has_name) {
      result.push_name(each.name);
    }
  }
  return result;
}

error walker::failure() const noexcept {
  return {.code = code_, .offset = position_, .path = path(), .what = what_};
}

}  // namespace weft::json::detail

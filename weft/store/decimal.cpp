#include <weft/store/decimal.hpp>

#include <charconv>
#include <cstddef>
#include <system_error>

namespace weft::store {
namespace {

constexpr bool is_decimal_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// 0.d1 d2 d3 ... * 10^point, without zeros at either end.
struct decimal_parts {
  bool is_negative = false;
  int point = 0;
  std::size_t count = 0;
  std::array<char, decimal_digits_max> digits;

  /// The digit that is worth 10^(point - 1 - at); 0 outside.
  [[nodiscard]] char digit(int at) const noexcept {
    return at >= 0 && at < static_cast<int>(count) ? digits[static_cast<std::size_t>(at)] : '0';
  }
};

/// Reads the digits at the start of `text`, and whether all are kept.
class digit_reader {
 public:
  explicit digit_reader(decimal_parts& out) noexcept : out_{out} {}

  std::size_t read(std::string_view text, bool behind_point) noexcept {
    std::size_t at = 0;
    for (; at < text.size() && is_decimal_digit(text[at]); ++at) {
      if (out_.count == 0 && zeros_ == 0 && text[at] == '0') {
        if (behind_point) --out_.point;  // 0.00…
        continue;
      }
      if (!behind_point) ++out_.point;
      if (text[at] == '0')
        ++zeros_;
      else
        keep(text[at]);
    }
    return at;
  }
  [[nodiscard]] bool fits() const noexcept { return fits_; }

 private:
  void keep(char digit) noexcept {
    if (out_.count + zeros_ >= out_.digits.size()) {
      fits_ = false;
      return;
    }
    for (; zeros_ > 0; --zeros_) out_.digits[out_.count++] = '0';
    out_.digits[out_.count++] = digit;
  }

  decimal_parts& out_;
  std::size_t zeros_ = 0;  // seen, and kept once a digit follows
  bool fits_ = true;
};

constexpr int exponent_max = 1000;

bool add_exponent(std::string_view text, decimal_parts& to) noexcept {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  int exponent = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, exponent);
  if (fault != std::errc{} || stop != end) return false;
  if (exponent > exponent_max || exponent < -exponent_max) return to.count == 0;
  to.point += exponent;
  return true;
}

bool take_apart(std::string_view text, decimal_parts& out) noexcept {
  out.is_negative = text.starts_with('-');
  if (out.is_negative || text.starts_with('+')) text.remove_prefix(1);
  digit_reader reader{out};
  const std::size_t before = reader.read(text, false);
  text.remove_prefix(before);
  std::size_t behind = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    behind = reader.read(text, true);
    text.remove_prefix(behind);
  }
  if (before + behind == 0 || !reader.fits()) return false;
  if (!text.empty()) {
    if (text.front() != 'e' && text.front() != 'E') return false;
    if (!add_exponent(text.substr(1), out)) return false;
  }
  if (out.count == 0) {
    out.is_negative = false;
    out.point = 0;
  }
  return true;
}

}  // namespace

std::optional<std::string_view> canonical_decimal(std::string_view number, decimal_shape shape,
                                                  decimal_text& room) noexcept {
  decimal_parts parts;
  if (!take_apart(number, parts)) return std::nullopt;
  if (parts.is_negative && shape.is_unsigned) return std::nullopt;
  const int given = static_cast<int>(parts.count) - parts.point;  // digits behind the point
  const bool is_free = shape.precision == 0;
  const int scale = is_free ? (given > 0 ? given : 0) : shape.scale;
  const int whole_max = is_free ? static_cast<int>(decimal_digits_max) : shape.precision - scale;
  if (given > scale || parts.point > whole_max || scale > static_cast<int>(decimal_digits_max))
    return std::nullopt;
  char* to = room.data();
  if (parts.is_negative) *to++ = '-';
  if (parts.point <= 0) *to++ = '0';
  for (int at = 0; at < parts.point; ++at) *to++ = parts.digit(at);
  if (scale > 0) *to++ = '.';
  for (int at = 0; at < scale; ++at) *to++ = parts.digit(parts.point + at);
  return std::string_view{room.data(), static_cast<std::size_t>(to - room.data())};
}

}  // namespace weft::store

#include <weft/store/number_text.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace weft::store {
namespace {

/// Takes the digits at the start of `text`; how many.
std::size_t take_digits(std::string_view& text) noexcept {
  const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(size);
  return size;
}

void take_sign(std::string_view& text) noexcept {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
}

/// Takes an exponent, if there is one; false: it has no digits.
bool take_exponent(std::string_view& text) noexcept {
  if (!text.starts_with('e') && !text.starts_with('E')) return true;
  text.remove_prefix(1);
  take_sign(text);
  return take_digits(text) > 0;
}

}  // namespace

bool looks_like_number(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  take_sign(text);
  std::size_t digits = take_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += take_digits(text);
  }
  return digits > 0 && take_exponent(text) && text.empty();
}

std::optional<std::int64_t> plain_integer(std::string_view text) noexcept {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc{} || stop != end) return std::nullopt;
  char digits[20];
  const char* const written = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return std::string_view{digits, written} == text ? std::optional{number} : std::nullopt;
}

bool is_json_number(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool begins_with_zero = text.starts_with('0');
  const std::size_t whole = take_digits(text);
  if (whole == 0 || (begins_with_zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (take_digits(text) == 0) return false;
  }
  return take_exponent(text) && text.empty();
}

}  // namespace weft::store

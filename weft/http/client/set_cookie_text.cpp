#include <weft/http/client/set_cookie_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

constexpr std::size_t cookie_bytes_most = 4096;  // name and value
constexpr std::size_t attribute_bytes_most = 1024;
constexpr std::int64_t seconds_kept_most = 400LL * 24 * 60 * 60;
constexpr std::int64_t long_ago = 0;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_control_character(char c) noexcept {
  return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
}

/// Takes what stands before the next `end` off, without white space around it.
std::string_view take_part(std::string_view& rest, char end) noexcept {
  const std::size_t at = rest.find(end);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return field_syntax::trim(part);
}

std::optional<std::int64_t> end_of_age(std::string_view value, std::int64_t now) noexcept {
  const std::string_view digits = value.starts_with('-') ? value.substr(1) : value;
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return std::nullopt;
  if (value.starts_with('-')) return long_ago;
  std::int64_t age = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), age);
  if (read.ec != std::errc{}) age = seconds_kept_most;
  return age == 0 ? long_ago : now + std::min(age, seconds_kept_most);
}

same_site read_same_site(std::string_view value) noexcept {
  if (equals_ignoring_case(value, "strict")) return same_site::strict;
  if (equals_ignoring_case(value, "lax")) return same_site::lax;
  return equals_ignoring_case(value, "none") ? same_site::none : same_site::unset;
}

/// Both ends of a cookie's life that it names.
struct life {
  std::optional<std::int64_t> expires{};
  std::optional<std::int64_t> by_age{};  // goes before the other
};

void read_attribute(std::string_view name, std::string_view value, std::int64_t now,
                    set_cookie_text& into, life& ends) noexcept {
  if (equals_ignoring_case(name, "expires")) {
    if (const auto date = parse_cookie_date(value))
      ends.expires = std::min(*date, now + seconds_kept_most);
  } else if (equals_ignoring_case(name, "max-age")) {
    if (const auto end = end_of_age(value, now)) ends.by_age = end;
  } else if (equals_ignoring_case(name, "domain")) {
    into.domain = value.starts_with('.') ? value.substr(1) : value;
  } else if (equals_ignoring_case(name, "path")) {
    into.path = value.starts_with('/') ? value : std::string_view{};
  } else if (equals_ignoring_case(name, "secure")) {
    into.secure = true;
  } else if (equals_ignoring_case(name, "httponly")) {
    into.http_only = true;
  } else if (equals_ignoring_case(name, "samesite")) {
    into.same_site = read_same_site(value);
  }
}

// ---- dates --------------------------------------------------------------------------------------

bool is_delimiter(char c) noexcept {
  return c == '\t' || (c >= ' ' && c <= '/') || (c >= ';' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

/// Takes a number of `least` to `most` digits off; behind it no digit may stand.
std::optional<int> take_number(std::string_view& text, std::size_t least,
                               std::size_t most) noexcept {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits < least || digits > most) return std::nullopt;
  int number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  return number;
}

/// 1 to 12; 0: it begins as no month does.
int month_of(std::string_view token) noexcept {
  static constexpr std::array<std::string_view, 12> names = {
      "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
  for (std::size_t i = 0; i != names.size(); ++i)
    if (equals_ignoring_case(token.substr(0, 3), names[i])) return static_cast<int>(i) + 1;
  return 0;
}

/// What a date has been found to have so far.
struct date_parts {
  std::optional<int> second_of_day{};
  std::optional<int> day{};
  std::optional<int> month{};
  std::optional<int> year{};

  /// The first of the four that it is and that is not known.
  void take(std::string_view token) noexcept {
    if (!second_of_day && take_time(token)) return;
    if (std::string_view rest = token; !day) {
      day = take_number(rest, 1, 2);
      if (day) return;
    }
    if (const int found = month_of(token); !month && found != 0) {
      month = found;
      return;
    }
    if (!year) year = take_number(token, 2, 4);
  }

 private:
  bool take_time(std::string_view token) noexcept {
    std::array<int, 3> parts{};
    for (std::size_t i = 0; i != parts.size(); ++i) {
      if (i != 0 && !token.starts_with(':')) return false;
      if (i != 0) token.remove_prefix(1);
      const auto number = take_number(token, 1, 2);
      if (!number || *number > (i == 0 ? 23 : 59)) return false;
      parts[i] = *number;
    }
    second_of_day = (parts[0] * 60 + parts[1]) * 60 + parts[2];
    return true;
  }
};

}  // namespace

std::optional<std::int64_t> parse_cookie_date(std::string_view text) noexcept {
  date_parts found;
  while (!text.empty()) {
    std::size_t size = 0;
    while (size < text.size() && !is_delimiter(text[size])) ++size;
    if (size != 0) found.take(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  if (!found.second_of_day || !found.day || !found.month || !found.year) return std::nullopt;
  int year = *found.year;
  if (year >= 70 && year <= 99) year += 1900;
  if (year <= 69) year += 2000;
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(*found.month)},
                                         std::chrono::day{static_cast<unsigned>(*found.day)}};
  if (year < 1601 || !date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  return std::int64_t{days} * (24 * 60 * 60) + *found.second_of_day;
}

std::expected<set_cookie_text, std::string_view> read_set_cookie(std::string_view text,
                                                                 std::int64_t now) noexcept {
  if (std::ranges::any_of(text, is_control_character))
    return std::unexpected{"it has a control character"};
  set_cookie_text read;
  std::string_view value = take_part(text, ';');
  if (value.contains('=')) read.name = take_part(value, '=');
  read.value = field_syntax::trim(value);
  if (read.name.empty() && read.value.empty()) return std::unexpected{"it is empty"};
  if (read.name.size() + read.value.size() > cookie_bytes_most)
    return std::unexpected{"its name and value have more than 4096 bytes"};
  life ends;
  while (!text.empty()) {
    std::string_view attribute = take_part(text, ';');
    const std::string_view name = take_part(attribute, '=');
    attribute = field_syntax::trim(attribute);
    if (attribute.size() <= attribute_bytes_most) read_attribute(name, attribute, now, read, ends);
  }
  read.expires = ends.by_age ? ends.by_age : ends.expires;
  return read;
}

}  // namespace weft::http

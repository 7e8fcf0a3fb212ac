#include <weft/store/date_time.hpp>

#include <cstddef>
#include <cstdint>

namespace weft::store {
namespace {

constexpr unsigned fraction_digits_max = 6;
constexpr unsigned time_hours_max = 838;

struct clock_time {
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  std::array<char, fraction_digits_max> fraction{'0', '0', '0', '0', '0', '0'};
};

struct calendar_day {
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
};

/// Takes a text apart from its front.
class temporal_reader {
 public:
  explicit temporal_reader(std::string_view text) noexcept : rest_{text} {}

  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
  bool take(char c) noexcept {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Between `least` and `most` digits.
  bool number(std::size_t least, std::size_t most, unsigned& out) noexcept {
    std::size_t count = 0;
    out = 0;
    while (count < rest_.size() && is_digit(rest_[count])) {
      if (count == most) return false;
      out = out * 10 + static_cast<unsigned>(rest_[count++] - '0');
    }
    rest_.remove_prefix(count);
    return count >= least;
  }
  bool two_digits(unsigned& out) noexcept {
    temporal_reader first{rest_.substr(0, 2)};
    if (!first.number(2, 2, out)) return false;
    rest_.remove_prefix(2);
    return true;
  }
  std::size_t skip_digits() noexcept {
    std::size_t count = 0;
    while (count < rest_.size() && is_digit(rest_[count])) ++count;
    rest_.remove_prefix(count);
    return count;
  }
  /// All digits, of which the first are kept.
  bool fraction(std::array<char, fraction_digits_max>& out) noexcept {
    std::size_t count = 0;
    for (; count < rest_.size() && is_digit(rest_[count]); ++count)
      if (count < out.size()) out[count] = rest_[count];
    rest_.remove_prefix(count);
    return count > 0;
  }

 private:
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  std::string_view rest_;
};

bool is_leap(unsigned year) noexcept {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

bool read_day(temporal_reader& from, calendar_day& out) noexcept {
  static constexpr std::array<unsigned, 12> lengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (!from.number(4, 4, out.year) || !from.take('-') || !from.number(1, 2, out.month) ||
      !from.take('-') || !from.number(1, 2, out.day))
    return false;
  if (out.month < 1 || out.month > 12) return false;
  const unsigned leap_day = out.month == 2 && is_leap(out.year) ? 1 : 0;
  return out.day >= 1 && out.day <= lengths[out.month - 1] + leap_day;
}

bool read_clock(temporal_reader& from, unsigned hours_max, clock_time& out) noexcept {
  if (!from.number(1, 3, out.hour) || !from.take(':') || !from.number(2, 2, out.minute))
    return false;
  if (from.take(':')) {
    if (!from.number(2, 2, out.second)) return false;
    if (from.take('.') && !from.fraction(out.fraction)) return false;
  }
  return out.hour <= hours_max && out.minute < 60 && out.second < 60;
}

/// Seconds since 1970 (H. Hinnant, "chrono-compatible low-level date algorithms": days_from_civil).
std::int64_t unix_seconds(const calendar_day& day, const clock_time& time) noexcept {
  const std::int64_t year = static_cast<std::int64_t>(day.year) - (day.month <= 2 ? 1 : 0);
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t month = day.month > 2 ? day.month - 3 : day.month + 9;
  const std::int64_t day_of_year = (153 * month + 2) / 5 + day.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  const std::int64_t days = era * 146'097 + day_of_era - 719'468;
  return days * 86'400 + time.hour * 3600 + time.minute * 60 + time.second;
}

bool is_timestamp(const calendar_day& day, const clock_time& time) noexcept {
  const std::int64_t seconds = unix_seconds(day, time);
  return seconds >= 1 && seconds <= INT32_MAX;
}

class temporal_writer {
 public:
  explicit temporal_writer(temporal_text& room) noexcept : begin_{room.data()}, to_{begin_} {}

  void put(char c) noexcept { *to_++ = c; }
  void number(unsigned value, int digits) noexcept {
    for (int i = digits - 1; i >= 0; --i, value /= 10) to_[i] = static_cast<char>('0' + value % 10);
    to_ += digits;
  }
  void day(const calendar_day& day) noexcept {
    number(day.year, 4);
    put('-');
    number(day.month, 2);
    put('-');
    number(day.day, 2);
  }
  void clock(const clock_time& time, unsigned fraction_digits) noexcept {
    number(time.hour, time.hour > 99 ? 3 : 2);
    put(':');
    number(time.minute, 2);
    put(':');
    number(time.second, 2);
    if (fraction_digits == 0) return;
    put('.');
    for (unsigned i = 0; i < fraction_digits && i < fraction_digits_max; ++i) put(time.fraction[i]);
  }
  [[nodiscard]] std::string_view text() const noexcept {
    return {begin_, static_cast<std::size_t>(to_ - begin_)};
  }

 private:
  char* begin_;
  char* to_;
};

bool is_zero(const clock_time& time, unsigned fraction_digits) noexcept {
  for (unsigned i = 0; i < fraction_digits; ++i)
    if (time.fraction[i] != '0') return false;
  return time.hour == 0 && time.minute == 0 && time.second == 0;
}

/// Takes what may stand behind the seconds.
bool take_zone(temporal_reader& from) noexcept {
  if (from.at_end()) return true;
  const bool is_apart = from.take(' ');
  if (from.take('Z')) return true;
  if (!from.take('+') && !from.take('-')) return !is_apart && from.at_end();
  unsigned hours = 0;
  unsigned minutes = 0;
  if (!from.two_digits(hours)) return false;
  from.take(':');
  return from.two_digits(minutes) && hours < 24 && minutes < 60;
}

std::optional<std::string_view> canonical_span(unsigned fraction_digits, std::string_view text,
                                               temporal_text& room) noexcept {
  temporal_reader from{text};
  const bool is_negative = from.take('-');
  clock_time time;
  if (!read_clock(from, time_hours_max, time) || !from.at_end()) return std::nullopt;
  // The bound is 838:59:59.000000.
  if (time.hour == time_hours_max && time.minute == 59 && time.second == 59)
    time.fraction.fill('0');
  temporal_writer to{room};
  if (is_negative && !is_zero(time, fraction_digits)) to.put('-');
  to.clock(time, fraction_digits);
  return to.text();
}

}  // namespace

std::optional<std::string_view> canonical_time(column_type type, unsigned fraction_digits,
                                               std::string_view text,
                                               temporal_text& room) noexcept {
  if (fraction_digits > fraction_digits_max) fraction_digits = fraction_digits_max;
  if (type == column_type::time) return canonical_span(fraction_digits, text, room);
  temporal_reader from{text};
  calendar_day day;
  if (!read_day(from, day)) return std::nullopt;
  clock_time time;
  const bool has_time = from.take(' ') || from.take('T');
  if (has_time && !read_clock(from, 23, time)) return std::nullopt;
  if (!from.at_end()) return std::nullopt;
  if (type == column_type::timestamp && !is_timestamp(day, time)) return std::nullopt;
  temporal_writer to{room};
  to.day(day);
  if (type == column_type::date) return to.text();
  to.put(' ');
  to.clock(time, fraction_digits);
  return to.text();
}

bool is_written_in_full(column_type type, std::string_view text) noexcept {
  constexpr std::size_t digits_max = 9;
  constexpr std::size_t day_size = 10;
  const std::size_t size = type == column_type::time ? 8 : 19;
  const std::string_view seconds = text.substr(0, size);
  temporal_text room;
  const auto canonical = canonical_time(type, 0, seconds, room);
  if (type == column_type::date || !canonical || canonical->size() != seconds.size()) return false;
  // A T is the one other way to say it with as many characters.
  const std::size_t behind_day = type == column_type::time ? 0 : day_size + 1;
  if (canonical->substr(behind_day) != seconds.substr(behind_day)) return false;
  temporal_reader rest{text.substr(size)};
  if (rest.take('.')) {
    const std::size_t digits = rest.skip_digits();
    if (digits == 0 || digits > digits_max) return false;
  }
  return (type == column_type::time || take_zone(rest)) && rest.at_end();
}

}  // namespace weft::store

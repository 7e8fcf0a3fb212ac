#include <weft/http/http_date.hpp>

#include <algorithm>
#include <array>
#include <chrono>

#include <weft/http/scan.hpp>

namespace weft::http {
namespace {

constexpr std::array<std::string_view, 7> days = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                  "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Takes pieces off the front of a text; after the first that is not there, nothing.
class date_reader {
 public:
  explicit date_reader(std::string_view text) noexcept : rest_{text} {}

  void expect(std::string_view text) noexcept {
    good_ = good_ && rest_.starts_with(text);
    if (good_) rest_.remove_prefix(text.size());
  }
  // Whole names, or the first three letters of them.
  void skip_day(bool is_whole) noexcept {
    const auto found = std::ranges::find_if(days, [this, is_whole](std::string_view name) {
      return rest_.starts_with(is_whole ? name : name.substr(0, 3));
    });
    good_ = good_ && found != days.end();
    if (good_) rest_.remove_prefix(is_whole ? found->size() : 3);
  }
  [[nodiscard]] unsigned month() noexcept {
    const auto found = std::ranges::find(months, rest_.substr(0, 3));
    good_ = good_ && found != months.end();
    if (!good_) return 0;
    rest_.remove_prefix(3);
    return static_cast<unsigned>(found - months.begin()) + 1;
  }
  [[nodiscard]] unsigned number(std::size_t digits) noexcept {
    const auto value = scan::decimal(rest_.substr(0, digits));
    good_ = good_ && rest_.size() >= digits && value.has_value();
    if (!good_) return 0;
    rest_.remove_prefix(digits);
    return static_cast<unsigned>(*value);
  }
  [[nodiscard]] bool is_whole() const noexcept { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

struct date_parts {
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
  unsigned second_of_day = 86'400;
};

// hour ":" minute ":" second; more than a day where it is none.
unsigned read_time(date_reader& from) noexcept {
  const unsigned hour = from.number(2);
  from.expect(":");
  const unsigned minute = from.number(2);
  from.expect(":");
  const unsigned second = from.number(2);
  if (hour > 23 || minute > 59 || second > 60) return 86'400;
  return hour * 3600 + minute * 60 + std::min(second, 59u);
}

date_parts read_fixdate(date_reader& from) noexcept {
  date_parts parts;
  from.skip_day(false);
  from.expect(", ");
  parts.day = from.number(2);
  from.expect(" ");
  parts.month = from.month();
  from.expect(" ");
  parts.year = from.number(4);
  from.expect(" ");
  parts.second_of_day = read_time(from);
  from.expect(" GMT");
  return parts;
}

date_parts read_rfc850(date_reader& from, std::int64_t now) noexcept {
  using namespace std::chrono;
  date_parts parts;
  from.skip_day(true);
  from.expect(", ");
  parts.day = from.number(2);
  from.expect("-");
  parts.month = from.month();
  from.expect("-");
  const unsigned in_century = from.number(2);
  from.expect(" ");
  parts.second_of_day = read_time(from);
  from.expect(" GMT");
  const year_month_day today{floor<std::chrono::days>(sys_seconds{seconds{now}})};
  const auto this_year = static_cast<unsigned>(static_cast<int>(today.year()));
  parts.year = this_year - this_year % 100 + in_century;
  if (parts.year > this_year + 50) parts.year -= 100;
  return parts;
}

date_parts read_asctime(date_reader& from, bool has_short_day) noexcept {
  date_parts parts;
  from.skip_day(false);
  from.expect(" ");
  parts.month = from.month();
  from.expect(has_short_day ? "  " : " ");
  parts.day = from.number(has_short_day ? 1 : 2);
  from.expect(" ");
  parts.second_of_day = read_time(from);
  from.expect(" ");
  parts.year = from.number(4);
  return parts;
}

}  // namespace

std::optional<std::int64_t> parse_http_date(std::string_view text, std::int64_t now) noexcept {
  using namespace std::chrono;
  date_reader reader{text};
  const std::size_t comma = text.find(',');
  const bool has_short_day = text.size() > 8 && text[8] == ' ';
  const date_parts parts = comma == 3                        ? read_fixdate(reader)
                           : comma != std::string_view::npos ? read_rfc850(reader, now)
                                                             : read_asctime(reader, has_short_day);
  const year_month_day date{year{static_cast<int>(parts.year)}, month{parts.month}, day{parts.day}};
  if (!reader.is_whole() || !date.ok() || parts.second_of_day >= 86'400) return std::nullopt;
  return sys_days{date}.time_since_epoch().count() * std::int64_t{86'400} + parts.second_of_day;
}

}  // namespace weft::http

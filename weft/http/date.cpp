#include <weft/http/date.hpp>

#include <algorithm>
#include <chrono>

namespace weft::http {
namespace {

constexpr std::string_view day_names = "SunMonTueWedThuFriSat";
constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::int64_t first_second = -62'167'219'200;  // of the year 0
constexpr std::int64_t last_second = 253'402'300'799;   // of the year 9999

void put_name(char* at, std::string_view names, unsigned index) noexcept {
  for (std::size_t i = 0; i < 3; ++i) at[i] = names[index * 3 + i];
}

void put_digits(char* at, unsigned value, std::size_t count) noexcept {
  for (std::size_t i = count; i-- > 0; value /= 10) at[i] = static_cast<char>('0' + value % 10);
}

}  // namespace

std::array<char, date_size_bytes> format_date(std::int64_t unix_seconds) noexcept {
  using namespace std::chrono;
  const sys_seconds when{seconds{std::clamp(unix_seconds, first_second, last_second)}};
  const sys_days day = floor<std::chrono::days>(when);
  const year_month_day date{day};
  const auto second_of_day = static_cast<unsigned>((when - day).count());

  std::array<char, date_size_bytes> text;
  constexpr std::string_view form = "Sun, 06 Nov 1994 08:49:37 GMT";
  std::copy(form.begin(), form.end(), text.begin());
  put_name(text.data(), day_names, weekday{day}.c_encoding());
  put_digits(text.data() + 5, static_cast<unsigned>(date.day()), 2);
  put_name(text.data() + 8, month_names, static_cast<unsigned>(date.month()) - 1);
  put_digits(text.data() + 12, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  put_digits(text.data() + 17, second_of_day / 3600, 2);
  put_digits(text.data() + 20, second_of_day / 60 % 60, 2);
  put_digits(text.data() + 23, second_of_day % 60, 2);
  return text;
}

reply_start::reply_start(const std::array<char, date_size_bytes>& date) noexcept {
  constexpr std::string_view before = "HTTP/1.1 200 OK\r\nDate: ";
  constexpr std::string_view line_end = "\r\n";
  static_assert(before.size() + date_size_bytes + line_end.size() == size_bytes);
  char* end = std::copy(before.begin(), before.end(), text_.begin());
  end = std::copy(date.begin(), date.end(), end);
  std::copy(line_end.begin(), line_end.end(), end);
}

void date_cache::refresh(time_point loop_time, duration wall) noexcept {
  using namespace std::chrono;
  const auto whole = floor<seconds>(wall);
  start_ = reply_start{format_date(whole.count())};
  valid_until_ = loop_time + (seconds{1} - (wall - whole));
}

}  // namespace weft::http

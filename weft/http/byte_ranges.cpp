#include <weft/http/byte_ranges.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

constexpr std::uint64_t gap_max = 80;
constexpr std::string_view unit = "bytes ";

// 1*DIGIT; what no file reaches is as good as the largest number.
std::optional<std::uint64_t> parse_position(std::string_view digits) noexcept {
  if (digits.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (char c : digits) {
    const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
    if (digit > 9) return std::nullopt;
    value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
  }
  return value;
}

// int-range / suffix-range (RFC 9110 section 14.1.1): `first` beyond the end where nothing of it is
// there; none where it is malformed.
std::optional<byte_range> parse_one(std::string_view text, std::uint64_t size) noexcept {
  constexpr byte_range nothing{.first = UINT64_MAX, .last = UINT64_MAX};
  const std::size_t hyphen = text.find('-');
  if (hyphen == std::string_view::npos) return std::nullopt;
  const auto last = parse_position(text.substr(hyphen + 1));
  if (hyphen == 0) {
    if (!last) return std::nullopt;
    if (*last == 0 || size == 0) return nothing;
    return byte_range{.first = size - std::min(size, *last), .last = size - 1};
  }
  const auto first = parse_position(text.substr(0, hyphen));
  const bool is_open = hyphen + 1 == text.size();
  if (!first || (!last && !is_open) || (last && *last < *first)) return std::nullopt;
  if (*first >= size) return nothing;
  return byte_range{.first = *first, .last = std::min(last.value_or(size - 1), size - 1)};
}

bool are_near(byte_range one, byte_range other) noexcept {
  return one.first <= other.last + std::min(gap_max, UINT64_MAX - other.last) &&
         other.first <= one.last + std::min(gap_max, UINT64_MAX - one.last);
}

// A range that grows may come near to others: it takes the place of the first it touches.
void add(range_set& to, byte_range more) noexcept {
  std::size_t place = to.count;
  for (std::size_t i = 0; i < to.count;) {
    if (!are_near(to.ranges[i], more)) {
      ++i;
      continue;
    }
    more = {.first = std::min(more.first, to.ranges[i].first),
            .last = std::max(more.last, to.ranges[i].last)};
    std::shift_left(to.ranges.begin() + static_cast<std::ptrdiff_t>(i),
                    to.ranges.begin() + to.count, 1);
    --to.count;
    place = std::min(place, i);
    i = 0;  // those before may be near to it now
  }
  std::shift_right(to.ranges.begin() + static_cast<std::ptrdiff_t>(place),
                   to.ranges.begin() + to.count + 1, 1);
  to.ranges[place] = more;
  ++to.count;
}

char* put(char* at, std::string_view text) noexcept {
  return std::copy(text.begin(), text.end(), at);
}

}  // namespace

range_set parse_ranges(std::string_view field, std::uint64_t size_bytes) noexcept {
  range_set found;
  const std::size_t equals = field.find('=');
  if (equals == std::string_view::npos || !equals_ignoring_case(field.substr(0, equals), "bytes"))
    return {};
  std::size_t asked = 0;
  for (std::string_view rest = field.substr(equals + 1); !rest.empty();) {
    const std::string_view text = field_syntax::take_element(rest);
    if (text.empty()) continue;
    const auto range = parse_one(text, size_bytes);
    if (!range || ++asked > range_set::capacity) return {};
    if (range->first < size_bytes) add(found, *range);
  }
  if (asked == 0) return {};
  found.outcome = found.count == 0 ? range_outcome::unsatisfiable : range_outcome::satisfiable;
  return found;
}

std::string_view content_range(byte_range sent, std::uint64_t size_bytes,
                               std::array<char, content_range_bytes_max>& room) noexcept {
  char* const end = room.data() + room.size();
  char* at = put(room.data(), unit);
  at = std::to_chars(at, end, sent.first).ptr;
  *at++ = '-';
  at = std::to_chars(at, end, sent.last).ptr;
  *at++ = '/';
  at = std::to_chars(at, end, size_bytes).ptr;
  return {room.data(), at};
}

std::string_view unsatisfied_range(std::uint64_t size_bytes,
                                   std::array<char, content_range_bytes_max>& room) noexcept {
  char* at = put(put(room.data(), unit), "*/");
  at = std::to_chars(at, room.data() + room.size(), size_bytes).ptr;
  return {room.data(), at};
}

}  // namespace weft::http

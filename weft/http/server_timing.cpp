#include <weft/http/server_timing.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include <weft/http/field_syntax.hpp>

namespace weft::http {
namespace {

// Of milliseconds, with three digits behind the point.
void append_milliseconds(std::string& out, duration length) {
  const std::int64_t microseconds = std::max<std::int64_t>(length.count(), 0) / 1000;
  std::array<char, 20> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), microseconds / 1000).ptr;
  out.append(digits.data(), end).push_back('.');
  for (std::int64_t unit = 100; unit > 0; unit /= 10)
    out.push_back(static_cast<char>('0' + microseconds / unit % 10));
}

}  // namespace

void append_server_timing_field(std::string& out, duration length) {
  out.append("Server-Timing: total;dur=");
  append_milliseconds(out, length);
  out.append("\r\n");
}

result<> append_server_timing(std::string& out, std::string_view name,
                              std::optional<duration> length, std::string_view description) {
  if (!field_syntax::is_token(name) || !scan::consists_of<scan::set::field>(description))
    return fail(errc::invalid_argument);
  out.append(out.empty() ? "" : ", ").append(name);
  if (length) {
    out.append(";dur=");
    append_milliseconds(out, *length);
  }
  if (description.empty()) return {};
  out.append(";desc=\"");
  for (char c : description) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  out.push_back('"');
  return {};
}

}  // namespace weft::http

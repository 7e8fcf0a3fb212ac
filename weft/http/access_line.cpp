#include <weft/http/access_line.hpp>

#include <algorithm>
#include <array>
#include <charconv>

#include <weft/base/log_escape.hpp>
#include <weft/http/date.hpp>

namespace weft::http {
namespace {

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

std::uint64_t microseconds(duration length) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(length.count(), 0)) / 1000;
}

// For between quotes, which it cannot end.
void append_text(std::string& out, std::string_view text) {
  if (text.empty()) out.push_back('-');
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\"\\"), text.size());
    log::append_escaped(out, text.substr(0, end), log::escaping::plain);
    if (end < text.size()) out.append({'\\', text[end]});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// "[06/Nov/1994:08:49:37 +0000]", from "Sun, 06 Nov 1994 08:49:37 GMT".
void append_time(std::string& out, std::int64_t unix_seconds) {
  const auto date = format_date(unix_seconds);
  const std::string_view text{date.data(), date.size()};
  out.append("[").append(text.substr(5, 2)).append("/").append(text.substr(8, 3)).append("/");
  out.append(text.substr(12, 4)).append(":").append(text.substr(17, 8)).append(" +0000]");
}

/// As logs have it: "2.0", "1.1", "1.0".
std::string_view version_of(const access_record& what) noexcept {
  if (what.major_version == 2) return "2.0";
  return what.minor_version == 0 ? "1.0" : "1.1";
}

void append_combined(std::string& out, const access_record& what) {
  log::append_escaped(out, what.client, log::escaping::plain);
  out.append(" - - ");
  append_time(out, what.unix_seconds);
  out.append(" \"");
  append_text(out, what.method);
  out.push_back(' ');
  append_text(out, what.target);
  out.append(" HTTP/").append(version_of(what)).append("\" ");
  append_number(out, static_cast<std::uint64_t>(what.code));
  out.push_back(' ');
  append_number(out, what.body_bytes);
  out.append(" \"");
  append_text(out, what.referer);
  out.append("\" \"");
  append_text(out, what.user_agent);
  out.append("\" ");
  append_number(out, microseconds(what.length));
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out.append(",\"").append(name).append("\":\"");
  log::append_escaped(out, text, log::escaping::json);
  out.push_back('"');
}

void append_member(std::string& out, std::string_view name, std::uint64_t number) {
  out.append(",\"").append(name).append("\":");
  append_number(out, number);
}

void append_json(std::string& out, const access_record& what) {
  out.append("{\"time\":");
  if (what.unix_seconds < 0) out.push_back('-');
  append_number(out, static_cast<std::uint64_t>(what.unix_seconds < 0 ? -what.unix_seconds
                                                                      : what.unix_seconds));
  append_member(out, "client", what.client);
  append_member(out, "method", what.method);
  append_member(out, "target", what.target);
  append_member(out, "version", version_of(what));
  append_member(out, "status", static_cast<std::uint64_t>(what.code));
  append_member(out, "body_bytes", what.body_bytes);
  append_member(out, "duration_us", microseconds(what.length));
  if (!what.referer.empty()) append_member(out, "referer", what.referer);
  if (!what.user_agent.empty()) append_member(out, "user_agent", what.user_agent);
  out.push_back('}');
}

}  // namespace

void append_access_line(std::string& out, const access_record& what, access_format how) {
  if (how == access_format::combined)
    append_combined(out, what);
  else
    append_json(out, what);
  out.push_back('\n');
}

}  // namespace weft::http

#include <weft/http/reply_head.hpp>

#include <charconv>
#include <cstring>

namespace weft::http {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view date_name = "Date: ";
constexpr std::string_view content_type_name = "Content-Type: ";
constexpr std::string_view content_length_name = "Content-Length: ";

char* put(char* out, std::string_view text) noexcept {
  if (!text.empty()) std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

std::size_t digits(std::uint64_t number) noexcept {
  std::size_t count = 1;
  for (; number >= 10; number /= 10) ++count;
  return count;
}

constexpr std::string_view connection_line(connection_field field) noexcept {
  switch (field) {
    case connection_field::close: return "Connection: close\r\n";
    case connection_field::keep_alive: return "Connection: keep-alive\r\n";
    case connection_field::none: break;
  }
  return {};
}

constexpr std::size_t line_bytes(std::string_view name, std::size_t value_bytes) noexcept {
  return name.size() + value_bytes + line_end.size();
}

char* put_line(char* out, std::string_view name, std::string_view value) noexcept {
  return put(put(put(out, name), value), line_end);
}

}  // namespace

std::size_t reply_head::size_bytes() const noexcept {
  std::size_t size = status_line(code).size() + fields.size() + line_end.size();
  size += connection_line(connection).size();
  if (!date.empty()) size += line_bytes(date_name, date.size());
  if (!content_type.empty()) size += line_bytes(content_type_name, content_type.size());
  if (!is_bodiless(code)) size += line_bytes(content_length_name, digits(content_length));
  return size;
}

char* reply_head::write(char* out) const noexcept {
  out = put(out, status_line(code));
  if (!date.empty()) out = put_line(out, date_name, date);
  if (!content_type.empty()) out = put_line(out, content_type_name, content_type);
  if (!is_bodiless(code)) {
    out = put(out, content_length_name);
    out = std::to_chars(out, out + digits(content_length), content_length).ptr;
    out = put(out, line_end);
  }
  out = put(out, fields);
  out = put(out, connection_line(connection));
  return put(out, line_end);
}

}  // namespace weft::http

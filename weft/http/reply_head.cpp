#include <weft/http/reply_head.hpp>

#include <charconv>
#include <cstddef>
#include <cstring>

namespace weft::http {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view date_name = "Date: ";
constexpr std::string_view content_type_name = "Content-Type: ";
constexpr std::string_view content_length_name = "Content-Length: ";
constexpr std::size_t digits_most = 20;  // of 64 bits

// Nearly all that stands in a head has 16 to 64 bytes, which take no call: pieces of 16, of which
// the last may cover a part of the one before.
char* put(char* out, std::string_view text) noexcept {
  constexpr std::size_t piece = 16;
  const std::size_t size = text.size();
  if (size >= piece && size <= 4 * piece) [[likely]] {
    for (std::size_t at = 0; at + piece < size; at += piece)
      std::memcpy(out + at, text.data() + at, piece);
    std::memcpy(out + size - piece, text.data() + size - piece, piece);
  } else if (size != 0) {
    std::memcpy(out, text.data(), size);
  }
  return out + size;
}

constexpr std::string_view connection_line(connection_field field) noexcept {
  switch (field) {
    case connection_field::close: return "Connection: close\r\n";
    case connection_field::keep_alive: return "Connection: keep-alive\r\n";
    case connection_field::none: break;
  }
  return {};
}

char* put_line(char* out, std::string_view name, std::string_view value) noexcept {
  return put(put(put(out, name), value), line_end);
}

}  // namespace

char* reply_head::write(char* out) const noexcept {
  out = put(out, status_line(code));
  if (!date.empty()) out = put_line(out, date_name, date);
  if (!content_type.empty()) out = put_line(out, content_type_name, content_type);
  if (!is_bodiless(code)) {
    out = put(out, content_length_name);
    out = std::to_chars(out, out + digits_most, content_length).ptr;
    out = put(out, line_end);
  }
  out = put(out, fields);
  out = put(out, connection_line(connection));
  return put(out, line_end);
}

}  // namespace weft::http

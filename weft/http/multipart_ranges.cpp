#include <weft/http/multipart_ranges.hpp>

namespace weft::http {
namespace {

constexpr std::string_view delimiter = "\r\n--";
constexpr std::string_view type_field = "\r\nContent-Type: ";
constexpr std::string_view range_field = "\r\nContent-Range: ";
constexpr std::string_view head_end = "\r\n\r\n";
constexpr std::string_view body_end = "--\r\n";

}  // namespace

void multipart_ranges::append_head(byte_range of, std::string& out) const {
  std::array<char, content_range_bytes_max> room;
  out.append(delimiter).append(boundary_);
  if (!type_.empty()) out.append(type_field).append(type_);
  out.append(range_field).append(content_range(of, representation_bytes_, room)).append(head_end);
}

void multipart_ranges::append_end(std::string& out) const {
  out.append(delimiter).append(boundary_).append(body_end);
}

std::uint64_t multipart_ranges::size_bytes(std::span<const byte_range> ranges) const noexcept {
  std::array<char, content_range_bytes_max> room;
  const std::size_t type = type_.empty() ? 0 : type_field.size() + type_.size();
  const std::size_t head = delimiter.size() + boundary_.size() + type + range_field.size();
  std::uint64_t size = delimiter.size() + boundary_.size() + body_end.size();
  for (const byte_range each : ranges)
    size += head + content_range(each, representation_bytes_, room).size() + head_end.size() +
            each.size_bytes();
  return size;
}

}  // namespace weft::http

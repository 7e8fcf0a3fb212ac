#include <weft/http/file_types.hpp>

#include <algorithm>
#include <array>

#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

struct file_type {
  std::string_view extension;
  std::string_view media_type;
};

// By extension, in order.
constexpr std::array known = std::to_array<file_type>({
    {"aac", "audio/aac"},
    {"apng", "image/apng"},
    {"atom", "application/atom+xml"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"br", "application/octet-stream"},
    {"css", "text/css; charset=utf-8"},
    {"csv", "text/csv; charset=utf-8"},
    {"eot", "application/vnd.ms-fontobject"},
    {"epub", "application/epub+zip"},
    {"flac", "audio/flac"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"htm", "text/html; charset=utf-8"},
    {"html", "text/html; charset=utf-8"},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar; charset=utf-8"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript; charset=utf-8"},
    {"json", "application/json"},
    {"jsonld", "application/ld+json"},
    {"jxl", "image/jxl"},
    {"m4a", "audio/mp4"},
    {"map", "application/json"},
    {"md", "text/markdown; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"mpeg", "video/mpeg"},
    {"oga", "audio/ogg"},
    {"ogg", "audio/ogg"},
    {"ogv", "video/ogg"},
    {"opus", "audio/ogg"},
    {"otf", "font/otf"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"rss", "application/rss+xml"},
    {"rtf", "application/rtf"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"toml", "application/toml"},
    {"ttf", "font/ttf"},
    {"txt", "text/plain; charset=utf-8"},
    {"vtt", "text/vtt; charset=utf-8"},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"weba", "audio/webm"},
    {"webm", "video/webm"},
    {"webmanifest", "application/manifest+json"},
    {"webp", "image/webp"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xhtml", "application/xhtml+xml"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
});
static_assert(std::ranges::is_sorted(known, {}, &file_type::extension));

constexpr std::string_view unknown = "application/octet-stream";

}  // namespace

std::string_view media_type_of_file(std::string_view name) noexcept {
  const std::size_t dot = name.find_last_of("./");
  if (dot == std::string_view::npos || name[dot] == '/') return unknown;
  std::array<char, 12> lower{};
  const std::string_view extension = name.substr(dot + 1);
  if (extension.size() > lower.size()) return unknown;
  std::ranges::transform(extension, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::string_view wanted{lower.data(), extension.size()};
  const auto found = std::ranges::lower_bound(known, wanted, {}, &file_type::extension);
  return found != known.end() && found->extension == wanted ? found->media_type : unknown;
}

bool is_compressible(std::string_view media_type) noexcept {
  const std::string_view essence = media_type.substr(0, media_type.find_first_of("; "));
  if (equals_ignoring_case(essence.substr(0, 5), "text/")) return true;
  if (essence.ends_with("+xml") || essence.ends_with("+json")) return true;
  constexpr std::array others = std::to_array<std::string_view>(
      {"application/json", "application/xml", "application/javascript", "application/toml",
       "application/yaml", "application/wasm", "application/rtf", "application/vnd.ms-fontobject",
       "image/bmp", "image/vnd.microsoft.icon", "font/ttf", "font/otf"});
  return std::ranges::any_of(
      others, [essence](std::string_view each) { return equals_ignoring_case(each, essence); });
}

}  // namespace weft::http

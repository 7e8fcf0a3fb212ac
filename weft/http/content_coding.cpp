#include <weft/http/content_coding.hpp>

#include <array>

#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, content_coding_count> coding_names = {
    "identity", "gzip", "deflate", "br", "zstd"};

}  // namespace

std::string_view to_string(content_coding which) noexcept {
  return coding_names[static_cast<std::size_t>(which)];
}

std::optional<content_coding> parse_content_coding(std::string_view name) noexcept {
  for (std::size_t i = 0; i < coding_names.size(); ++i)
    if (equals_ignoring_case(coding_names[i], name)) return static_cast<content_coding>(i);
  if (equals_ignoring_case(name, "x-gzip")) return content_coding::gzip;
  return std::nullopt;
}

}  // namespace weft::http

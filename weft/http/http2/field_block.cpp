#include <weft/http/http2/field_block.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/http/field_syntax.hpp>
#include <weft/http/http2/field_rules.hpp>

namespace weft::http::http2 {
namespace {

char small_letter(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

std::uint8_t* bytes_of(std::string_view text) noexcept {
  // nghttp2 only reads them.
  return const_cast<std::uint8_t*>(                         // NOLINT
      reinterpret_cast<const std::uint8_t*>(text.data()));  // NOLINT
}

}  // namespace

void field_block::begin(std::size_t lines_bytes) {
  fields_.clear();
  names_.clear();
  names_.reserve(lines_bytes);
}

void field_block::push(std::string_view name, std::string_view value, unsigned flags) {
  fields_.push_back({.name = bytes_of(name),
                     .value = bytes_of(value),
                     .namelen = name.size(),
                     .valuelen = value.size(),
                     .flags = static_cast<std::uint8_t>(flags)});
}

void field_block::add(std::string_view name, std::string_view value) {
  push(name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME);
}

void field_block::add_lines(std::string_view lines) {
  WEFT_DEBUG_ASSERT(names_.size() + lines.size() <= names_.capacity(), "begin() says how much");
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find("\r\n"), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 2, lines.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::size_t at = names_.size();
    std::ranges::transform(line.substr(0, colon), std::back_inserter(names_), small_letter);
    const std::string_view name = std::string_view{names_}.substr(at);
    if (belongs_to_connection(name)) continue;
    push(name, field_syntax::trim(line.substr(colon + 1)), NGHTTP2_NV_FLAG_NONE);
  }
}

}  // namespace weft::http::http2

#include <weft/json/error.hpp>

#include <cstdint>

#include <weft/base/format.hpp>

namespace weft::json {

std::string_view to_string(errc code) noexcept {
  switch (code) {
    case errc::syntax: return "syntax";
    case errc::truncated: return "truncated";
    case errc::trailing_content: return "trailing_content";
    case errc::invalid_utf8: return "invalid_utf8";
    case errc::too_deep: return "too_deep";
    case errc::wrong_type: return "wrong_type";
    case errc::out_of_range: return "out_of_range";
    case errc::unknown_key: return "unknown_key";
    case errc::missing_key: return "missing_key";
    case errc::too_many_elements: return "too_many_elements";
    case errc::invalid_value: return "invalid_value";
    case errc::duplicate_key: return "duplicate_key";
    case errc::too_large: return "too_large";
  }
  return "unknown";
}

namespace {

/// ", from 0 to 1000".
std::string text_of(const member_bound& bound) {
  return weft::format(", from {} to {}", bound.least_text(), bound.most_text());
}

}  // namespace

std::string error::message() const {
  std::string text;
  if (!path.empty()) text.append(path.view()).append(": ");
  text.append(what);
  if (bound != nullptr) text.append(text_of(*bound));
  text.append(" (byte ").append(std::to_string(offset));
  if (most != 0) text.append("; at most ").append(std::to_string(most));
  text.append(")");
  return text;
}

}  // namespace weft::json

#include <weft/store/failure.hpp>

#include <array>

namespace weft::store {

std::string_view to_string(failure_kind kind) noexcept {
  static constexpr std::array<std::string_view, failure_kinds> names{
      "schema_changed", "duplicate_key", "constraint", "rolled_back",  "busy",
      "read_only",      "full",          "corrupt",    "input_output", "invalid",
      "too_large",      "unsupported",   "no_memory",  "unknown",      "other"};
  return names[std::to_underlying(kind)];
}

}  // namespace weft::store

// Any text of a query: what is counted is bounded by what is there.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <weft/store/sqlite/query_shape.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto shape = weft::store::sqlite::shape_of(text);
  const auto opened = static_cast<std::size_t>(std::ranges::count(text, '('));
  if (shape.parentheses > opened || shape.selects > (size + 1) / 7) std::abort();
  return 0;
}

// Lent strings against copied ones: the same documents are read, to the same texts; and scalars are
// those of a document that is JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <weft/json/lent.hpp>
#include <weft/json/read.hpp>

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

void compare_strings(std::string_view text, std::string& keeper) {
  std::vector<weft::json::lent_text> lent;
  const auto lent_done = weft::json::read_lent(lent, text, keeper);
  const auto copied = weft::json::read<std::vector<std::string>>(text);
  expect(lent_done.has_value() == copied.has_value());
  if (!copied) return;
  expect(lent.size() == copied->size());
  for (std::size_t i = 0; i < lent.size(); ++i) expect(lent[i].view() == (*copied)[i]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  std::string keeper;
  compare_strings(text, keeper);
  std::vector<weft::json::lent_scalar> scalars;
  if (weft::json::read_lent(scalars, text, keeper)) expect(!weft::json::detail::check(text));
  return 0;
}

#include <weft/store/distinct_names.hpp>

#include <utility>

#include <weft/base/format.hpp>

namespace weft::store {
namespace {

/// No character of UTF-8 is cut apart.
std::string_view shortened(std::string_view name) noexcept {
  if (name.size() <= distinct_names::name_bytes_max) return name;
  std::size_t end = distinct_names::name_bytes_max;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end);
}

}  // namespace

std::string distinct_names::add(std::string_view wanted) {
  std::string kept{shortened(wanted)};
  if (numbers_.try_emplace(kept, 0).second) return kept;
  int number = numbers_[kept];
  std::string name;
  do name = weft::format("{}:{}", kept, ++number);
  while (!numbers_.try_emplace(name, 0).second);
  numbers_[kept] = number;
  return name;
}

}  // namespace weft::store

#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

constexpr unsigned char to_lower(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte - unsigned{'A'} < 26 ? static_cast<unsigned char>(byte | 0x20) : byte;
}

}  // namespace

bool equals_ignoring_case(std::string_view left, std::string_view right) noexcept {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (to_lower(left[i]) != to_lower(right[i])) return false;
  return true;
}

std::size_t header_list::index_of(std::string_view name, std::size_t from) const noexcept {
  for (std::size_t i = from; i < size_; ++i)
    if (equals_ignoring_case((*this)[i].name, name)) return i;
  return size_;
}

std::optional<std::string_view> header_list::find(std::string_view name) const noexcept {
  const std::size_t index = index_of(name);
  if (index == size_) return std::nullopt;
  return (*this)[index].value;
}

}  // namespace weft::http

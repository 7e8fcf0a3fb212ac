#include <weft/base/bounds.hpp>

#include <weft/base/format.hpp>

namespace weft {

std::string member_bound::real_text(double bound) const {
  return is_single ? weft::format("{}", static_cast<float>(bound)) : weft::format("{}", bound);
}

std::string member_bound::least_text() const {
  switch (kind) {
    case bounded_kind::integer: return std::to_string(least);
    case bounded_kind::unsigned_integer: return std::to_string(static_cast<std::uint64_t>(least));
    case bounded_kind::real: return real_text(least_real);
  }
  return {};
}

std::string member_bound::most_text() const {
  switch (kind) {
    case bounded_kind::integer: return std::to_string(static_cast<std::int64_t>(most));
    case bounded_kind::unsigned_integer: return std::to_string(most);
    case bounded_kind::real: return real_text(most_real);
  }
  return {};
}

}  // namespace weft

#include <weft/base/format.hpp>

namespace weft {

std::string vformat(std::string_view text, std::format_args values) {
  return std::vformat(text, values);
}

}  // namespace weft

#include <weft/json/named_enum.hpp>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>

namespace weft::json::detail {

void warn_of_number(std::string_view type, std::string_view example) {
  log::warning(weft::format(
      "a JSON document has a number for a {}: send the name of the enumerator, as in \"{}\"; "
      "numbers are read until 0.3",
      type, example));
}

}  // namespace weft::json::detail

// What a query's text is read into has as many question marks as values outside of quotes and
// comments, and is read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include <weft/store/mysql/query_text.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft::store;
  static const catalog schema{{{"b", {{.database = "b", .name = "t"}}}}};
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const query_parameter named[] = {{.name = "b", .bound = value::integer(1)}};
  for (const std::span<const query_parameter> given :
       {std::span<const query_parameter>{}, {named}}) {
    const auto made =
        mysql::read_query_text({.database = "b", .text = text, .parameters = given}, schema);
    if (!made) continue;
    const std::vector<query_parameter> again(made->parameters.size());
    const auto same =
        mysql::read_query_text({.database = "b", .text = made->sql, .parameters = again}, schema);
    if (!same || same->sql != made->sql || same->parameters.size() != again.size()) std::abort();
  }
  return 0;
}

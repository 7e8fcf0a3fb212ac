// Any continuation that a client may send: refused, or read within its bytes, and then written as
// it was.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/catalog.hpp>
#include <weft/store/scan_token.hpp>

namespace {

using namespace weft::store;

std::unique_ptr<const catalog> one_table() {
  std::vector<catalog::database_definition> databases;
  databases.push_back({"d", {}});
  databases.back().tables.push_back(
      {.database = "d", .name = "t", .columns = {{.name = "a"}, {.name = "b"}}, .key = {0, 1}});
  return std::make_unique<const catalog>(std::move(databases));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<const catalog> all = one_table();
  const std::string_view token{reinterpret_cast<const char*>(data), size};
  const scan_request request{.from = all->find("d", "t"), .columns = {}, .continuation = token};
  scratch room;
  const auto place = read_scan_token(request, room);
  if (place && scan_token(request, *place) != token) std::abort();
  return 0;
}

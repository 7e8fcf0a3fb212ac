#include <apps/weftd/api_request.hpp>

#include <weft/base/format.hpp>

namespace weftd {
namespace {

/// "ranges" of "/index/ranges/64": of which list it is an element. Empty: of none.
std::string_view list_of_element(std::string_view path) noexcept {
  const std::size_t end = path.rfind('/');
  if (end == std::string_view::npos) return {};
  path = path.substr(0, end);
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

api_fault not_such_a_request(const weft::json::error& why) {
  if (why.code == weft::json::errc::too_many_elements) {
    const std::string_view list = list_of_element(why.path);
    if (list == "operations")
      return bad_request(weft::format("Batch size exceeds maximum allowed size: {}", why.most));
    if (list == "ranges")
      return bad_request(weft::format("[ScanIndex] Too many ranges (max {})", why.most));
    if (list == "args")
      return bad_request(weft::format("[ScanFilter] Logic op must contain {} children", why.most));
  }
  return bad_request(why.message());
}

}  // namespace weftd

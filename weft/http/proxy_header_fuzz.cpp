// What stands before a connection's first request, however much of it has come: once decided, the
// outcome stays, and a header lies in what was received.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <weft/http/proxy_header.hpp>

namespace {

using weft::http::proxy_outcome;
using weft::http::proxy_status;

constexpr weft::http::proxy_limits bounds{.header_bytes = 256};

// From memory that ends where the bytes end.
proxy_outcome parse(std::string_view bytes) {
  const auto copy = std::make_unique_for_overwrite<char[]>(bytes.size());
  bytes.copy(copy.get(), bytes.size());
  const std::string_view received{copy.get(), bytes.size()};
  proxy_outcome found = weft::http::parse_proxy_header(received, bounds);
  if (found.header.size_bytes > bytes.size() || found.header.size_bytes > bounds.header_bytes)
    std::abort();
  if (found.header.source.has_value() != found.header.destination.has_value()) std::abort();
  for (int type = 0; type < 256; ++type)
    if (const auto value = found.header.find(static_cast<std::uint8_t>(type)))
      if (value->data() < received.data() || value->end() > received.end()) std::abort();
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const proxy_outcome whole = parse(bytes);
  proxy_status decided = proxy_status::incomplete;
  for (std::size_t end = 0; end <= bytes.size() && end < 400; ++end) {
    const proxy_outcome now = parse(bytes.substr(0, end));
    if (decided != proxy_status::incomplete && now.status != decided) std::abort();
    decided = now.status;
    if (decided == proxy_status::complete && now.header.size_bytes != whole.header.size_bytes)
      std::abort();
  }
  return 0;
}

#include <apps/weftd/reply_compression.hpp>

#include <weft/http/compress.hpp>
#include <weft/http/server.hpp>

namespace weftd {

weft::http::route_group reply_compression::around(const weft::http::route_group& api) {
  if (!options_.enabled) return api;
  return api.wrap(weft::http::compress{{.least_bytes = options_.least_bytes}});
}

}  // namespace weftd

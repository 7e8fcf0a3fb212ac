#include <apps/weftd/reply_compression.hpp>

#include <weft/http/compress.hpp>
#include <weft/http/server.hpp>

namespace weftd {

reply_compression::reply_compression(reply_compression_options options,
                                     weft::http::server& server) {
  if (options.enabled) server.wrap_all(weft::http::compress{{.least_bytes = options.least_bytes}});
}

}  // namespace weftd

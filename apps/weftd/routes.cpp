#include <apps/weftd/routes.hpp>

#include <cstdint>

#include <weft/http/server.hpp>

namespace weftd {

struct ping {
  std::int64_t sequence;
};

ping_api::ping_api(weft::http::server& http) {
  http.post("/ping", [](ping p) { return p; });
}

}  // namespace weftd

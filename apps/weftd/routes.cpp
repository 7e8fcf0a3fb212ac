#include <apps/weftd/routes.hpp>

#include <cstdint>
#include <string>

#include <weft/base/format.hpp>
#include <weft/http/server.hpp>

namespace weftd {

struct ping {
  std::int64_t sequence;
};

ping_api::ping_api(weft::http::server& http) {
  http.post("/ping", [](ping p) { return p; });
}

root_page::root_page(weft::http::server& http) {
  http.get("/", [](const weft::http::request& r) {
    // The client's own name for this server, so that the line can be pasted as it stands.
    const std::string_view host = r.header("host").value_or("127.0.0.1:8080");
    return weft::format(
        "weftd " WEFT_VERSION
        " serves data over HTTP.\n\n"
        "  curl -H 'content-type: application/json' -d '{{\"sequence\": 2}}' http://{0}/ping\n"
        "  curl http://{0}/healthz\n",
        host);
  });
}

}  // namespace weftd

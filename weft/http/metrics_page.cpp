#include <weft/http/metrics_page.hpp>

#include <tuple>
#include <utility>

#include <weft/http/response.hpp>
#include <weft/telemetry/prometheus.hpp>

namespace weft::http {

metrics_page::metrics_page(metrics_page_options options, server& http,
                           telemetry::registry& metrics) {
  http.get(options.path, [&metrics] {
    std::string page;
    telemetry::append_prometheus(metrics.read(), page);
    response made;
    std::ignore = made.set_content_type(telemetry::prometheus_content_type);
    made.set_body(std::move(page));
    return made;
  });
}

}  // namespace weft::http

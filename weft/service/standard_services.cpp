#include <weft/service/standard_services.hpp>

#include <weft/service/everywhere.hpp>
#include <weft/service/logger.hpp>

namespace weft::detail {

void add_standard_services(container& services, telemetry::registry& metrics, unsigned shard) {
  if (!services.has<telemetry::registry>()) services.provide(metrics);
  if (!services.has<telemetry::meter>()) services.provide(metrics.shard(shard));
  if (!services.has<logger>()) services.add<logger>().per_consumer();
  everywhere::provide_to(services);
}

}  // namespace weft::detail

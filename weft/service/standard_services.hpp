// Internal to whoever composes a program: what the services of every shard may ask for though
// nobody has added it.
//
// Contract: called once for each container, after all else has been added: a logger for each
// service that asks for one and what counts (the shard's meter, and the registry of all), unless
// the program has its own, and the shard's everywhere. The registry outlives the services.
//
//   for (installer& each : installers) each(services);
//   add_standard_services(services, metrics, shard);
#pragma once

#include <weft/service/container.hpp>
#include <weft/telemetry/registry.hpp>

namespace weft::detail {

void add_standard_services(container& services, telemetry::registry& metrics, unsigned shard);

}  // namespace weft::detail

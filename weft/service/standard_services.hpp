// Internal to whoever composes a program: what the services of every shard may ask for though
// nobody has added it.
//
// Contract: called once for each container, after all else has been added: a logger for each
// service that asks for one, unless the program has its own, and the shard's everywhere.
//
//   for (installer& each : installers) each(services);
//   add_standard_services(services);
#pragma once

#include <weft/service/container.hpp>

namespace weft::detail {

void add_standard_services(container& services);

}  // namespace weft::detail

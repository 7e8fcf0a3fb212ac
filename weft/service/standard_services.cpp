#include <weft/service/standard_services.hpp>

#include <weft/service/everywhere.hpp>
#include <weft/service/logger.hpp>

namespace weft::detail {

void add_standard_services(container& services) {
  if (!services.has<logger>()) services.add<logger>().per_consumer();
  everywhere::provide_to(services);
}

}  // namespace weft::detail

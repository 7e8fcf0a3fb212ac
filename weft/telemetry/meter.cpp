#include <weft/telemetry/meter.hpp>

#include <weft/telemetry/catalogue.hpp>

namespace weft::telemetry {

counter meter::counter(std::string_view name, std::string_view help,
                       std::initializer_list<label> labels) {
  return telemetry::counter{all_.number(shard_, {series_kind::counter, name, help, labels})};
}

gauge meter::gauge(std::string_view name, std::string_view help,
                   std::initializer_list<label> labels) {
  return telemetry::gauge{all_.number(shard_, {series_kind::gauge, name, help, labels})};
}

histogram meter::histogram(std::string_view name, std::string_view help,
                           std::initializer_list<label> labels) {
  return telemetry::histogram{all_.values(shard_, {series_kind::histogram, name, help, labels})};
}

}  // namespace weft::telemetry

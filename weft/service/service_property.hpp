// What a program says of a service by with(): plain structs, one of each type.
//
// Contract: a list of values, told apart by type, owned by the service's record. Internal; read by
// service_info.hpp.
//
//   record.properties = std::make_unique<service_property_of<region>>(region{"eu"}, ...);
#pragma once

#include <memory>
#include <utility>

#include <weft/service/interface_key.hpp>

namespace weft::detail {

struct service_property {
  service_property(const interface_key& of, std::unique_ptr<service_property> others) noexcept
      : type{&of}, next{std::move(others)} {}
  service_property(const service_property&) = delete;
  service_property& operator=(const service_property&) = delete;
  virtual ~service_property() = default;

  const interface_key* type;
  std::unique_ptr<service_property> next;
};

template <class P>
struct service_property_of final : service_property {
  service_property_of(P given, std::unique_ptr<service_property> others)
      : service_property{key_of<P>, std::move(others)}, value{std::move(given)} {}

  P value;
};

}  // namespace weft::detail

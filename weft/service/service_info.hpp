// What has been said of a service: its type, its name, and the properties it was added with.
//
// Contract: a view of a service of this shard's container, good until that is removed. A property
// is a plain struct, given by with(); a service has one of each type.
//
//   services.add<file_store>().as<store>().with(region{"eu"});
//   for (store& each : stores.where([](const service_info& of) {
//          const region* where = of.property<region>();
//          return where != nullptr && where->name == "eu";
//        })) ...
#pragma once

#include <string_view>

#include <weft/service/service_record.hpp>

namespace weft {

class service_info {
 public:
  explicit service_info(const detail::service_record& of) noexcept : record_{&of} {}

  /// Of the class that was added.
  [[nodiscard]] std::string_view type() const noexcept { return record_->kind->name; }
  /// By named(); empty: it has none.
  [[nodiscard]] std::string_view name() const noexcept { return record_->given_name(); }
  /// nullptr: no P was said of it.
  template <class P>
  [[nodiscard]] const P* property() const noexcept {
    for (const auto* each = record_->properties.get(); each != nullptr; each = each->next.get())
      if (each->type == &detail::key_of<P>)
        return &static_cast<const detail::service_property_of<P>*>(each)->value;
    return nullptr;
  }

 private:
  const detail::service_record* record_;
};

}  // namespace weft

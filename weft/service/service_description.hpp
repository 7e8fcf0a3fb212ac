// One service of a container as plain data: its state, and whom it needs.
//
// Contract: values that refer to nothing; made by container::describe(). `id` names a service
// within one description only. Any thread.
//
//   for (const service_description& each : services.describe()) log::info(each.type);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// One parameter of a service's constructor.
struct need_description {
  std::string interface{};
  /// "required" (T&), "named", "optional" (maybe<T>) or "many".
  std::string form{};
  /// Of named<T, "name">.
  std::string name{};
  /// Who it means, by id. None: nobody is there for it.
  std::vector<std::uint32_t> providers{};
};

struct service_description {
  std::uint32_t id = 0;
  std::string type{};
  /// By named(); empty: none.
  std::string name{};
  /// "started"; "made": not started yet, or stopping; "waiting" for what it needs, or for a start;
  /// "lazy" until somebody needs it; "failed"; "stopped" by its handle; "replaced" by what
  /// is there instead_of() it; "per consumer": what its instances are copies of; "lent" by
  /// provide().
  std::string state{};
  /// The interfaces that others find it by.
  std::vector<std::string> provides{};
  /// The id of whom it was made for, of an instance per consumer.
  std::optional<std::uint32_t> made_for{};
  std::vector<need_description> needs{};
};

}  // namespace weft

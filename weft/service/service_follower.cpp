#include <weft/service/service_follower.hpp>

#include <exception>
#include <optional>
#include <string_view>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>

namespace weft::detail {

void service_follower::tell(const provision& one, void* object, bool has_come) noexcept {
  const auto log_failure = [&](std::string_view why) noexcept {
    try {
      log::error(weft::format("{}, which follows {}, failed when {} {}: {}",
                              owner() == nullptr ? "somebody" : owner()->name(),
                              one.interface->name, one.owner->title(),
                              has_come ? "came" : "was to go", why));
    } catch (...) {
      log::error("somebody who follows services failed, and there is no memory to say who");
    }
  };
  std::optional<lifetime::making> registering;
  if (owner() != nullptr) registering.emplace(*owner());
  try {
    call(object, service_info{*one.owner}, has_come);
  } catch (const std::exception& why) {
    log_failure(why.what());
  } catch (...) {
    log_failure("it threw something that is no std::exception");
  }
}

}  // namespace weft::detail

#include <weft/service/event_type.hpp>

#include <mutex>
#include <vector>

namespace weft {
namespace {

struct registry {
  std::mutex mutex;
  std::vector<event_type*> types;  // by number
};

registry& all_types() {
  static registry known;
  return known;
}

}  // namespace

std::uint32_t event_type::enlist() {
  registry& known = all_types();
  const std::lock_guard lock{known.mutex};
  if (number() != unnumbered) return number();
  known.types.push_back(this);
  number_.store(static_cast<std::uint32_t>(known.types.size() - 1), std::memory_order_release);
  return number();
}

std::uint32_t event_type::count() noexcept {
  registry& known = all_types();
  const std::lock_guard lock{known.mutex};
  return static_cast<std::uint32_t>(known.types.size());
}

event_type& event_type::at(std::uint32_t number) noexcept {
  registry& known = all_types();
  const std::lock_guard lock{known.mutex};
  return *known.types[number];
}

}  // namespace weft

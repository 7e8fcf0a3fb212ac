#include <weft/service/container.hpp>

#include <stdexcept>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/base/log_parts.hpp>

namespace weft {

using detail::service_record;

container::container() { provide(*this); }

container::~container() = default;

void* container::resolve(detail::interface_key& interface) {
  const detail::provision* found = graph_.find(interface);
  if ((found == nullptr || found->object == nullptr) && !changes_.begun()) {
    const auto made = graph_.make_all();
    found = graph_.find(interface);
    if ((found == nullptr || found->object == nullptr) && !made)
      throw std::logic_error{graph_.complaints().front()};
  }
  if (found == nullptr)
    throw std::logic_error{weft::format(
        "the program needs {0}, which nobody provides: add<{0}>() is missing", interface.name)};
  if (found->object == nullptr)
    throw std::logic_error{
        weft::format("the program needs {}, which is not there now: co_await wait_for<{}>()",
                     found->owner->title(), interface.name)};
  return found->object;
}

void container::reload() {
  for (service_record* each = graph_.made_after(nullptr); each != nullptr;
       each = graph_.made_after(each)) {
    if (each->kind->reload == nullptr || each->state != detail::service_state::started) continue;
    try {
      const auto done = each->kind->reload(each->object);
      if (!done) log::error_of({each->kind->name, " goes on as before: ", done.error().message()});
    } catch (const std::exception& why) {
      log::error_of({each->kind->name, " goes on as before: ", why.what()});
    }
  }
}

std::optional<std::size_t> container::connections() {
  std::optional<std::size_t> sum;
  for (service_record* each = graph_.made_after(nullptr); each != nullptr;
       each = graph_.made_after(each))
    if (each->kind->connections != nullptr)
      sum = sum.value_or(0) + each->kind->connections(each->object);
  return sum;
}

}  // namespace weft

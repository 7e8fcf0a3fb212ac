#include <weft/realtime/cpu_group.hpp>

#include <weft/base/control_group.hpp>
#include <weft/base/read_file.hpp>

namespace weft::realtime {

std::optional<std::string> cpu_group_folder(std::string_view groups, std::string_view mounts) {
  const auto group = find_control_group(groups, mounts, "cpu");
  if (!group || !group->below) return std::nullopt;
  return group->folder + *group->below;
}

std::optional<std::string> cpu_group_folder() {
  const auto groups = read_file("/proc/thread-self/cgroup", control_group_text_bytes_max);
  const auto mounts = read_file("/proc/self/mountinfo", control_group_text_bytes_max);
  if (!groups || !mounts) return std::nullopt;
  return cpu_group_folder(*groups, *mounts);
}

}  // namespace weft::realtime

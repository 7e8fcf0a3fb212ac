// Which control group a process or thread is in, and where its files are.
//
// Contract: reads the texts of /proc/PID/cgroup and /proc/PID/mountinfo (proc(5), cgroups(7)), for
// one controller of version 1, or for version 2, whose one hierarchy has all controllers. Nothing
// is returned if the hierarchy is not mounted or the process is in none of its groups. In a
// container the group may lie outside of what is mounted: then `below` is empty. Throws
// std::bad_alloc.
//
//   const auto group = find_control_group(groups, mounts, "memory");
//   if (group && group->below) read_file(group->folder + *group->below + "/memory.limit_in_bytes");
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// The texts may have so many bytes.
inline constexpr std::size_t control_group_text_bytes_max = 1024 * 1024;

struct control_group {
  std::string folder;  // of the top of the hierarchy, as far as it is mounted
  /// From there to the group: "/a/b", or empty for the top itself.
  std::optional<std::string> below;
};

/// `controller`: of version 1; empty: version 2.
[[nodiscard]] std::optional<control_group> find_control_group(std::string_view groups,
                                                              std::string_view mounts,
                                                              std::string_view controller);

}  // namespace weft

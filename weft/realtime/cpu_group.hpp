// Where the control group that the calling thread is in has its files.
//
// Contract: of the cpu controller of version 1, which alone has limits for realtime threads
// (cpu.rt_runtime_us and cpu.rt_period_us; the kernel's sched-rt-group.rst). None where that is not
// mounted, or not with the thread's group in it. Reads two files of /proc; throws std::bad_alloc.
// Internal to the layer.
//
//   const auto folder = cpu_group_folder();
//   if (folder) number_in((*folder + "/cpu.rt_runtime_us").c_str());
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::realtime {

[[nodiscard]] std::optional<std::string> cpu_group_folder();

/// As /proc/thread-self/cgroup and /proc/self/mountinfo have it (proc(5)).
[[nodiscard]] std::optional<std::string> cpu_group_folder(std::string_view groups,
                                                          std::string_view mounts);

}  // namespace weft::realtime

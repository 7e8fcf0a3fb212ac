// How much memory this process may have before the system ends it or refuses more.
//
// Problem: a server that sizes itself by the machine's memory is killed in a container, whose limit
// is elsewhere. Contract: the smallest of memory.max and memory.high of control groups of version
// 2, memory.limit_in_bytes of version 1, each of the process's group and all groups above it that
// are mounted, RLIMIT_AS, RLIMIT_DATA and the machine's memory. What cannot be read does not count.
// Reads files of /proc and /sys. Throws std::bad_alloc.
//
//   const memory_limit most = find_memory_limit();
//   log::info(weft::format("{} bytes, by {}", most.bytes, most.origin));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct memory_limit {
  std::uint64_t bytes = 0;
  std::string origin;  // what says so, for people
};

[[nodiscard]] memory_limit find_memory_limit();

namespace detail {

/// Files that may have a limit of control groups, for what /proc/self/cgroup and
/// /proc/self/mountinfo say (proc(5)).
[[nodiscard]] std::vector<std::string> memory_group_files(std::string_view groups,
                                                          std::string_view mounts);

}  // namespace detail
}  // namespace weft

#include <weft/realtime/cpu_group.hpp>

#include <algorithm>
#include <cstddef>

#include <weft/base/read_file.hpp>

namespace weft::realtime {
namespace {

constexpr std::size_t file_bytes_max = 1024 * 1024;

/// Up to `end`, which is taken away as well.
std::string_view take(std::string_view& from, char end) noexcept {
  const std::string_view part = from.substr(0, from.find(end));
  from.remove_prefix(std::min(from.size(), part.size() + 1));
  return part;
}

bool lists_cpu(std::string_view names) noexcept {
  while (!names.empty())
    if (take(names, ',') == "cpu") return true;
  return false;
}

/// A line is "4:cpu,cpuacct:/path".
std::optional<std::string_view> path_in_hierarchy(std::string_view groups) noexcept {
  while (!groups.empty()) {
    std::string_view line = take(groups, '\n');
    take(line, ':');
    if (lists_cpu(take(line, ':'))) return line;
  }
  return std::nullopt;
}

struct mount {
  std::string_view root;  // what of the hierarchy is seen
  std::string_view folder;
};

/// A line is "32 31 0:29 /root /folder rw,relatime shared:1 - cgroup cgroup rw,cpu,cpuacct".
std::optional<mount> mount_of_hierarchy(std::string_view mounts) noexcept {
  while (!mounts.empty()) {
    std::string_view line = take(mounts, '\n');
    for (int i = 0; i < 3; ++i) take(line, ' ');
    const std::string_view root = take(line, ' ');
    const std::string_view folder = take(line, ' ');
    while (!line.empty() && take(line, ' ') != "-") {}
    const bool is_version_1 = take(line, ' ') == "cgroup";
    take(line, ' ');
    if (is_version_1 && lists_cpu(line)) return mount{.root = root, .folder = folder};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> cpu_group_folder(std::string_view groups, std::string_view mounts) {
  const auto path = path_in_hierarchy(groups);
  const auto seen = mount_of_hierarchy(mounts);
  if (!path || !seen) return std::nullopt;
  const auto without_slash = [](std::string_view of) { return of == "/" ? of.substr(1) : of; };
  std::string_view below = without_slash(*path);
  const std::string_view root = without_slash(seen->root);
  if (!below.starts_with(root)) return std::nullopt;
  below.remove_prefix(root.size());
  if (!below.empty() && below.front() != '/') return std::nullopt;
  return std::string{seen->folder} + std::string{below};
}

std::optional<std::string> cpu_group_folder() {
  const auto groups = read_file("/proc/thread-self/cgroup", file_bytes_max);
  const auto mounts = read_file("/proc/self/mountinfo", file_bytes_max);
  if (!groups || !mounts) return std::nullopt;
  return cpu_group_folder(*groups, *mounts);
}

}  // namespace weft::realtime

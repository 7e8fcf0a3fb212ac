#include <weft/base/control_group.hpp>

#include <algorithm>

namespace weft {
namespace {

/// Up to `end`, which is taken away as well.
std::string_view take(std::string_view& from, char end) noexcept {
  const std::string_view part = from.substr(0, from.find(end));
  from.remove_prefix(std::min(from.size(), part.size() + 1));
  return part;
}

bool lists(std::string_view names, std::string_view wanted) noexcept {
  while (!names.empty())
    if (take(names, ',') == wanted) return true;
  return false;
}

/// A line is "4:cpu,cpuacct:/path", or "0::/path" for version 2.
std::optional<std::string_view> path_in_hierarchy(std::string_view groups,
                                                  std::string_view controller) noexcept {
  while (!groups.empty()) {
    std::string_view line = take(groups, '\n');
    take(line, ':');
    const std::string_view controllers = take(line, ':');
    if (controller.empty() ? controllers.empty() : lists(controllers, controller)) return line;
  }
  return std::nullopt;
}

struct mount {
  std::string_view root;  // what of the hierarchy is seen
  std::string_view folder;
};

/// A line is "32 31 0:29 /root /folder rw,relatime shared:1 - cgroup cgroup rw,memory".
std::optional<mount> mount_of_hierarchy(std::string_view mounts,
                                        std::string_view controller) noexcept {
  while (!mounts.empty()) {
    std::string_view line = take(mounts, '\n');
    for (int i = 0; i < 3; ++i) take(line, ' ');
    const std::string_view root = take(line, ' ');
    const std::string_view folder = take(line, ' ');
    while (!line.empty() && take(line, ' ') != "-") {}
    const std::string_view kind = take(line, ' ');
    take(line, ' ');
    if (controller.empty() ? kind == "cgroup2" : kind == "cgroup" && lists(line, controller))
      return mount{.root = root, .folder = folder};
  }
  return std::nullopt;
}

std::string_view without_slash(std::string_view path) noexcept {
  return path == "/" ? std::string_view{} : path;
}

}  // namespace

std::optional<control_group> find_control_group(std::string_view groups, std::string_view mounts,
                                                std::string_view controller) {
  const auto path = path_in_hierarchy(groups, controller);
  const auto seen = mount_of_hierarchy(mounts, controller);
  if (!path || !seen) return std::nullopt;
  control_group found{.folder = std::string{seen->folder}, .below = std::nullopt};
  std::string_view below = without_slash(*path);
  const std::string_view root = without_slash(seen->root);
  if (!below.starts_with(root) || below.contains("/..")) return found;
  below.remove_prefix(root.size());
  if (below.empty() || below.front() == '/') found.below = below;
  return found;
}

}  // namespace weft

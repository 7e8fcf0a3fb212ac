#include <weft/base/memory_limit.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include <weft/base/read_file.hpp>

namespace weft {
namespace {

constexpr std::size_t file_bytes_max = 1024 * 1024;

/// Up to `end`, which is taken away as well.
std::string_view take(std::string_view& from, char end) noexcept {
  const std::string_view part = from.substr(0, from.find(end));
  from.remove_prefix(std::min(from.size(), part.size() + 1));
  return part;
}

bool lists_memory(std::string_view names) noexcept {
  while (!names.empty())
    if (take(names, ',') == "memory") return true;
  return false;
}

enum class group_version : bool { one, two };

/// A line is "4:memory:/path", or "0::/path" for version 2.
std::optional<std::string_view> path_in_hierarchy(std::string_view groups,
                                                  group_version which) noexcept {
  while (!groups.empty()) {
    std::string_view line = take(groups, '\n');
    take(line, ':');
    const std::string_view controllers = take(line, ':');
    if (which == group_version::two ? controllers.empty() : lists_memory(controllers)) return line;
  }
  return std::nullopt;
}

struct mount {
  std::string_view root;  // what of the hierarchy is seen
  std::string_view folder;
};

/// A line is "32 31 0:29 /root /folder rw,relatime shared:1 - cgroup cgroup rw,memory".
std::optional<mount> mount_of_hierarchy(std::string_view mounts, group_version which) noexcept {
  while (!mounts.empty()) {
    std::string_view line = take(mounts, '\n');
    for (int i = 0; i < 3; ++i) take(line, ' ');
    const std::string_view root = take(line, ' ');
    const std::string_view folder = take(line, ' ');
    while (!line.empty() && take(line, ' ') != "-") {}
    const std::string_view kind = take(line, ' ');
    take(line, ' ');
    if (which == group_version::two ? kind == "cgroup2" : kind == "cgroup" && lists_memory(line))
      return mount{.root = root, .folder = folder};
  }
  return std::nullopt;
}

std::string_view without_slash(std::string_view path) noexcept {
  return path == "/" ? std::string_view{} : path;
}

void add_files(std::string_view groups, std::string_view mounts, group_version which,
               std::vector<std::string>& into) {
  const auto path = path_in_hierarchy(groups, which);
  const auto seen = mount_of_hierarchy(mounts, which);
  if (!path || !seen) return;
  std::string_view below = without_slash(*path);
  const std::string_view root = without_slash(seen->root);
  // In a container the path may lie outside of what is mounted; its own group is then at the top.
  const bool is_inside = below.starts_with(root) &&
                         (below.size() == root.size() || below[root.size()] == '/') &&
                         !below.contains("/..");
  below = is_inside ? below.substr(root.size()) : std::string_view{};
  for (;; below = below.substr(0, below.rfind('/'))) {
    const std::string folder = std::string{seen->folder} + std::string{below};
    if (which == group_version::one) {
      into.push_back(folder + "/memory.limit_in_bytes");
    } else {
      into.push_back(folder + "/memory.max");
      into.push_back(folder + "/memory.high");
    }
    if (below.empty()) break;
  }
}

/// "max", or what is no number: none.
std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto text = read_file(path, file_bytes_max);
  if (!text) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (failed != std::errc{}) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> resource_limit(int of) noexcept {
  rlimit is{};
  if (::getrlimit(static_cast<__rlimit_resource>(of), &is) != 0 || is.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return is.rlim_cur;
}

std::uint64_t machine_memory() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return UINT64_MAX;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

}  // namespace

namespace detail {

std::vector<std::string> memory_group_files(std::string_view groups, std::string_view mounts) {
  std::vector<std::string> files;
  add_files(groups, mounts, group_version::two, files);
  add_files(groups, mounts, group_version::one, files);
  return files;
}

}  // namespace detail

memory_limit find_memory_limit() {
  memory_limit least{.bytes = machine_memory(), .origin = "the machine's memory"};
  const auto consider = [&least](std::optional<std::uint64_t> bytes, const std::string& origin) {
    // None of these can be meant as a limit of nothing.
    if (bytes && *bytes != 0 && *bytes < least.bytes) least = {.bytes = *bytes, .origin = origin};
  };
  consider(resource_limit(RLIMIT_AS), "RLIMIT_AS");
  consider(resource_limit(RLIMIT_DATA), "RLIMIT_DATA");
  const auto groups = read_file("/proc/self/cgroup", file_bytes_max);
  const auto mounts = read_file("/proc/self/mountinfo", file_bytes_max);
  if (groups && mounts)
    for (const std::string& file : detail::memory_group_files(*groups, *mounts))
      consider(number_in(file), file);
  return least;
}

}  // namespace weft

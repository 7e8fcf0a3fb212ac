#include <weft/base/memory_limit.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <optional>

#include <weft/base/control_group.hpp>
#include <weft/base/read_file.hpp>

namespace weft {
namespace {

/// Of the group and of all above it that are mounted.
void add_files(const control_group& group, std::initializer_list<std::string_view> names,
               std::vector<std::string>& into) {
  // A group that is out of sight is in a container, whose own group is at the top.
  std::string_view below = group.below ? std::string_view{*group.below} : std::string_view{};
  for (;; below = below.substr(0, below.rfind('/'))) {
    for (const std::string_view name : names)
      into.push_back(group.folder + std::string{below} + std::string{name});
    if (below.empty()) break;
  }
}

/// "max", or what is no number: none.
std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto text = read_file(path, control_group_text_bytes_max);
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
  if (const auto group = find_control_group(groups, mounts, {}))
    add_files(*group, {"/memory.max", "/memory.high"}, files);
  if (const auto group = find_control_group(groups, mounts, "memory"))
    add_files(*group, {"/memory.limit_in_bytes"}, files);
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
  const auto groups = read_file("/proc/self/cgroup", control_group_text_bytes_max);
  const auto mounts = read_file("/proc/self/mountinfo", control_group_text_bytes_max);
  if (groups && mounts)
    for (const std::string& file : detail::memory_group_files(*groups, *mounts))
      consider(number_in(file), file);
  return least;
}

}  // namespace weft

#include <weft/realtime/cpu_group.hpp>

#include <gtest/gtest.h>

namespace weft::realtime {
namespace {

constexpr std::string_view hierarchies =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw,relatime shared:9 - cgroup cgroup rw,cpuset\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:8 master:2 - cgroup cgroup "
    "rw,cpuacct,cpu\n";

TEST(cpu_group, is_below_the_mount_of_its_controller) {
  EXPECT_EQ(cpu_group_folder("3:cpuset:/other\n1:cpuacct,cpu:/a/b\n0::/\n", hierarchies),
            "/sys/fs/cgroup/cpu,cpuacct/a/b");
  EXPECT_EQ(cpu_group_folder("1:cpu,cpuacct:/\n", hierarchies), "/sys/fs/cgroup/cpu,cpuacct");
}

TEST(cpu_group, is_counted_from_the_part_that_is_mounted) {
  constexpr std::string_view container =
      "40 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro,relatime - cgroup cgroup rw,cpu\n";
  EXPECT_EQ(cpu_group_folder("1:cpu:/docker/abc\n", container), "/sys/fs/cgroup/cpu");
  EXPECT_EQ(cpu_group_folder("1:cpu:/docker/abc/d\n", container), "/sys/fs/cgroup/cpu/d");
  EXPECT_EQ(cpu_group_folder("1:cpu:/docker/abcd\n", container), std::nullopt);
  EXPECT_EQ(cpu_group_folder("1:cpu:/\n", container), std::nullopt);
}

TEST(cpu_group, version_2_has_none) {
  EXPECT_EQ(
      cpu_group_folder("0::/user.slice\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
      std::nullopt);
  EXPECT_EQ(cpu_group_folder("", ""), std::nullopt);
}

}  // namespace
}  // namespace weft::realtime

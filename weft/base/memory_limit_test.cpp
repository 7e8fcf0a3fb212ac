#include <weft/base/memory_limit.hpp>

#include <sys/resource.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using weft::detail::memory_group_files;
using files = std::vector<std::string>;

TEST(memory_limit, looks_at_a_group_of_version_2_and_all_above_it) {
  EXPECT_EQ(memory_group_files("0::/a/b\n", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            (files{"/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/b/memory.high",
                   "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/a/memory.high",
                   "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.high"}));
}

TEST(memory_limit, looks_at_a_group_of_version_1_below_what_is_mounted) {
  EXPECT_EQ(
      memory_group_files("9:memory:/box/a\n0::/\n",
                         "33 32 0:30 /box /groups/memory rw - cgroup cgroup rw,memory\n"
                         "34 32 0:31 / /groups/cpu rw - cgroup cgroup rw,cpu\n"),
      (files{"/groups/memory/a/memory.limit_in_bytes", "/groups/memory/memory.limit_in_bytes"}));
}

TEST(memory_limit, takes_the_top_where_its_own_group_is_out_of_sight) {
  EXPECT_EQ(memory_group_files("9:memory:/elsewhere\n",
                               "33 32 0:30 /box /memory rw - cgroup cgroup rw,memory\n"),
            files{"/memory/memory.limit_in_bytes"});
  EXPECT_EQ(memory_group_files("0::/../other\n", "30 1 0:26 / /c rw - cgroup2 cgroup2 rw\n"),
            (files{"/c/memory.max", "/c/memory.high"}));
}

TEST(memory_limit, does_without_what_is_not_there) {
  EXPECT_EQ(memory_group_files("", ""), files{});
  EXPECT_EQ(memory_group_files("4:cpu:/a\n", "33 32 0:30 / /cpu rw - cgroup cgroup rw,cpu\n"),
            files{});
}

TEST(memory_limit, is_no_more_than_a_limit_on_the_address_space) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const weft::memory_limit free_one = weft::find_memory_limit();
  EXPECT_GT(free_one.bytes, 0U);
  EXPECT_FALSE(free_one.origin.empty());
  rlimit less = before;
  // Far more than this test needs, whatever is mapped already, and below the machine's only if that
  // has as much: then it is what counts.
  less.rlim_cur = rlim_t{64} << 40U;
  if (less.rlim_cur >= before.rlim_max) GTEST_SKIP() << "the hard limit is lower";
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &less), 0);
  EXPECT_LE(weft::find_memory_limit().bytes, less.rlim_cur);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
}

}  // namespace

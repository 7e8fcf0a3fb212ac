#include <weft/realtime/kernel_file.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <weft/testing/allocation_counter.hpp>

namespace weft::realtime {
namespace {

constexpr std::string_view built_with =
    "# of a kernel\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_RT_GROUP_SCHED=y\n";

class kernel_file_test : public ::testing::Test {
 public:
  ~kernel_file_test() override { std::remove(path_.c_str()); }

 protected:
  const char* holding(std::string_view text) const {
    std::ofstream{path_} << text;
    return path_.c_str();
  }
  const char* holding_compressed(std::string_view text) const {
    const gzFile file = ::gzopen(path_.c_str(), "wb");
    ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    ::gzclose(file);
    return path_.c_str();
  }

 private:
  std::string path_ = ::testing::TempDir() + "weft_kernel_file_" + std::to_string(::getpid());
};

TEST_F(kernel_file_test, a_number_is_what_the_file_begins_with) {
  EXPECT_EQ(number_in(holding("950000\n")), 950'000);
  EXPECT_EQ(number_in(holding("-1\n")), -1);
  EXPECT_EQ(number_in(holding("max\n")), std::nullopt);
  EXPECT_EQ(number_in(holding("")), std::nullopt);
  EXPECT_EQ(number_in("/nowhere/at/all"), std::nullopt);
}

void expect_whole_lines(const char* path) {
  EXPECT_TRUE(has_option(path, "CONFIG_RT_GROUP_SCHED=y"));
  EXPECT_FALSE(has_option(path, "CONFIG_RT_GROUP_SCHED"));
  EXPECT_FALSE(has_option(path, "RT_GROUP_SCHED=y"));
  EXPECT_FALSE(has_option(path, "CONFIG_B=y"));
}

TEST_F(kernel_file_test, a_number_may_be_in_a_line_below_a_heading) {
  std::string text{"cpu: 0\n .slept : 1\n"};
  for (int i = 0; i < 500; ++i) text += " #0: <a timer>, whose address nobody knows, S:01\n";
  text += std::string(5000, 'x') + "\ncpu: 1\n .sleeps : 7\n .slept : 4898 nsecs\n .slept : 9\n";
  const char* const file = holding(text);
  const testing::allocation_counter since;
  const auto found = number_behind(file, "cpu: 1", " .slept : ");
  const std::uint64_t allocations = since.allocations();
  EXPECT_EQ(found, 4898);
  EXPECT_EQ(allocations, 0U);
  EXPECT_EQ(number_behind(file, "cpu: 0", " .slept : "), 1);
  EXPECT_EQ(number_behind(file, "cpu: 2", " .slept : "), std::nullopt);
  EXPECT_EQ(number_behind(file, "cpu: 1", " .woke : "), std::nullopt);
  EXPECT_EQ(number_behind(holding("cpu: 1\n .slept : never\n"), "cpu: 1", " .slept : "),
            std::nullopt);
  EXPECT_EQ(number_behind("/proc/weft/no/such/file", "cpu: 1", " .slept : "), std::nullopt);
}

TEST_F(kernel_file_test, options_are_whole_lines) { expect_whole_lines(holding(built_with)); }

TEST_F(kernel_file_test, options_may_be_compressed) {
  expect_whole_lines(holding_compressed(built_with));
}

TEST_F(kernel_file_test, a_file_that_is_not_there_has_no_options) {
  EXPECT_FALSE(has_option("/nowhere/at/all", "CONFIG_A=y"));
}

}  // namespace
}  // namespace weft::realtime

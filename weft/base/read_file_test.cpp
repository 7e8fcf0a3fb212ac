#include <weft/base/read_file.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace {

class read_file_in_folder : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override {
    ::unlink(path().c_str());
    ::rmdir(folder_.c_str());
  }

  [[nodiscard]] std::string path() const { return folder_ + "/file"; }
  void write(const std::string& text) const {
    std::FILE* const file = std::fopen(path().c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fputs(text.c_str(), file);
    std::fclose(file);
  }
  [[nodiscard]] static std::string fault_of(const std::string& name) {
    const auto text = weft::read_file(name, 100);
    return text ? "read: " + *text : text.error();
  }

  std::string folder_ = (std::filesystem::temp_directory_path() / "weft-read-XXXXXX").string();
};

TEST_F(read_file_in_folder, gives_the_whole_text) {
  write("");
  EXPECT_EQ(weft::read_file(path(), 100), "");
  write(std::string(100, 'x'));
  EXPECT_EQ(weft::read_file(path(), 100), std::string(100, 'x'));
}

TEST_F(read_file_in_folder, takes_no_more_memory_than_a_file_needs) {
  write(std::string(10'000, 'x'));
  const auto text = weft::read_file(path(), 4'000'000);
  ASSERT_EQ(text, std::string(10'000, 'x'));
  EXPECT_LT(text->capacity(), 20'000U);
}

TEST_F(read_file_in_folder, gives_all_of_one_that_does_not_say_how_long_it_is) {
  const auto text = weft::read_file("/proc/self/smaps", 4'000'000);
  ASSERT_TRUE(text.has_value()) << text.error();
  EXPECT_GT(text->size(), 4'096U);
  EXPECT_TRUE(text->contains("[stack]") && text->ends_with('\n'));
  EXPECT_FALSE(weft::read_file("/proc/self/smaps", 5'000).has_value());
}

TEST_F(read_file_in_folder, refuses_more_than_is_allowed) {
  write(std::string(101, 'x'));
  EXPECT_TRUE(fault_of(path()).ends_with("it may have 100 bytes")) << fault_of(path());
}

TEST_F(read_file_in_folder, says_what_the_system_says) {
  EXPECT_TRUE(fault_of(path()).contains("errno 2")) << fault_of(path());
  EXPECT_TRUE(fault_of(folder_).contains("errno 21")) << fault_of(folder_);
}

TEST_F(read_file_in_folder, waits_for_no_writer_of_a_fifo) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(fault_of(path()), "it is a FIFO: what is wanted is a regular file");
}

TEST_F(read_file_in_folder, reads_no_device) {
  EXPECT_EQ(fault_of("/dev/zero"), "it is a device: what is wanted is a regular file");
}

}  // namespace

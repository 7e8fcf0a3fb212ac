#include <weft/http/precompressed_file.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace weft::http {
namespace {

class precompressed_file_test : public ::testing::Test {
 protected:
  precompressed_file_test() {
    std::string name = ::testing::TempDir() + "weft-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    root_ = ::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  ~precompressed_file_test() override {
    ::close(root_);
    std::filesystem::remove_all(folder_);
  }
  // Changed so many seconds after the beginning of time.
  void write(const char* name, time_t modified) {
    std::ofstream{folder_ / name} << name;
    const timespec times[2] = {{modified, 0}, {modified, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / name).c_str(), times, 0), 0);
  }
  std::string chosen(std::string_view path, std::string_view accept_encoding) {
    constexpr coding_set all{content_coding::gzip, content_coding::deflate, content_coding::br,
                             content_coding::zstd};
    std::string room;
    const auto found = open_precompressed(root_, path, rank_codings(accept_encoding, all),
                                          symlinks::refused, room);
    if (!found) return to_string(found.error().code());
    std::string text(found->file.size_bytes(), '\0');
    if (!found->file.is_folder())
      EXPECT_EQ(::read(found->file.descriptor(), text.data(), text.size()),
                static_cast<ssize_t>(text.size()));
    return (found->file.is_folder() ? "folder" : text) + " " +
           std::string{to_string(found->coding)};
  }

  std::filesystem::path folder_;
  int root_ = -1;
};

TEST_F(precompressed_file_test, the_best_that_is_there_and_fresh) {
  write("a.css", 1000);
  write("a.css.gz", 1000);
  write("a.css.zst", 2000);
  write("a.css.br", 999);
  EXPECT_EQ(chosen("a.css", "gzip, br, zstd"), "a.css.zst zstd");
  EXPECT_EQ(chosen("a.css", "gzip, br"), "a.css.gz gzip");
  EXPECT_EQ(chosen("a.css", "br, deflate"), "a.css identity");
  EXPECT_EQ(chosen("a.css", "gzip;q=0.5, identity"), "a.css identity");
  EXPECT_EQ(chosen("a.css", ""), "a.css identity");
}

TEST_F(precompressed_file_test, never_without_the_file_itself) {
  write("b.css.gz", 1000);
  EXPECT_EQ(chosen("b.css", "gzip"), "not_found");
  std::filesystem::create_directory(folder_ / "c");
  write("c.gz", 1000);
  EXPECT_TRUE(chosen("c", "gzip").starts_with("folder"));
}

}  // namespace
}  // namespace weft::http

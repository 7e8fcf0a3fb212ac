#include <weft/http/file_path.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace weft::http {
namespace {

std::string relative(std::string_view path, bool hidden_files = false) {
  std::string room;
  const auto made = relative_file_path(path, {.hidden_files = hidden_files}, room);
  return made ? std::string{*made} : to_string(made.error().code());
}

TEST(file_path, names_files_and_nothing_else) {
  struct path_case {
    std::string_view asked;
    std::string_view made;
  };
  const std::string longest(255, 'a');
  const std::string too_long_name = "/" + longest + "a";
  std::string too_long;
  for (int i = 0; i < 20; ++i) too_long += "/" + longest;
  for (const auto& [asked, made] : std::vector<path_case>{
           {"/", "."},
           {"/a", "a"},
           {"/a/", "a"},
           {"/css/site.css", "css/site.css"},
           {"/a%20b/%C3%A4", "a b/\xc3\xa4"},
           {"/a..b/..c", "not_found"},
           {"/a..b/c..", "a..b/c.."},
           {"/.well-known/acme", ".well-known/acme"},
           {"/a/.well-known", "not_found"},
           {"/%2ewell-known/acme", ".well-known/acme"},
           {"", "not_found"},
           {"a", "not_found"},
           {"//a", "not_found"},
           {"/a//b", "not_found"},
           {"/..", "not_found"},
           {"/a/../b", "not_found"},
           {"/%2e%2e/b", "not_found"},
           {"/.%2e", "not_found"},
           {"/a%2fb", "not_found"},
           {"/..%2f..%2fetc%2fpasswd", "not_found"},
           {"/a%5cb", "not_found"},
           {"/..\\..\\a", "not_found"},
           {"/a%00.txt", "not_found"},
           {"/a%0ab", "not_found"},
           {"/a%7f", "not_found"},
           {"/a%2", "not_found"},
           {"/.git/config", "not_found"},
           {"/a/.htaccess", "not_found"},
           {too_long_name, "not_found"},
           {too_long, "not_found"},
       })
    EXPECT_EQ(relative(asked), made) << asked;
  EXPECT_EQ(relative("/.git/config", true), ".git/config");
  EXPECT_EQ(relative("/..", true), "not_found");
}

// A folder with files, beside one that is none of the client's business.
class open_beneath_test : public ::testing::TestWithParam<bool> {
 protected:
  open_beneath_test() {
    std::string name = ::testing::TempDir() + "weft-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::filesystem::create_directories(folder_ / "root/sub");
    write("root/a.txt", "text");
    write("root/sub/b.txt", "more");
    write("secret.txt", "secret");
    std::filesystem::create_symlink("a.txt", folder_ / "root/inner");
    std::filesystem::create_symlink("sub", folder_ / "root/folder");
    std::filesystem::create_symlink("../secret.txt", folder_ / "root/outer");
    std::filesystem::create_symlink(folder_ / "secret.txt", folder_ / "root/absolute");
    std::filesystem::create_symlink("loop", folder_ / "root/loop");
    ::mkfifo((folder_ / "root/pipe").c_str(), 0600);
    root_ = ::open((folder_ / "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  ~open_beneath_test() override {
    ::close(root_);
    std::filesystem::remove_all(folder_);
  }
  void write(const char* name, const char* text) { std::ofstream{folder_ / name} << text; }

  std::string described(std::string_view path, symlinks allowed = symlinks::refused) const {
    const auto opened = GetParam() ? open_beneath(root_, path, allowed) : walk_beneath(root_, path);
    if (!opened) return to_string(opened.error().code());
    if (opened->is_folder()) return "folder";
    std::string text(opened->size_bytes(), '\0');
    EXPECT_EQ(::read(opened->descriptor(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    return text;
  }

  std::filesystem::path folder_;
  int root_ = -1;
};

TEST_P(open_beneath_test, opens_files_and_folders) {
  EXPECT_EQ(described("a.txt"), "text");
  EXPECT_EQ(described("sub/b.txt"), "more");
  EXPECT_EQ(described("sub"), "folder");
  EXPECT_EQ(described("."), "folder");
}

TEST_P(open_beneath_test, opens_nothing_else) {
  for (std::string_view path :
       {"none", "a.txt/b", "none/b", "pipe", "loop", "inner", "folder/b.txt", "outer", "absolute",
        "..", "../secret.txt", "sub/../../secret.txt"})
    EXPECT_EQ(described(path), "not_found") << path;
  std::string too_long = "none";
  while (too_long.size() < 5000) too_long += "/none";
  EXPECT_EQ(described(too_long), "not_found");
}

TEST_P(open_beneath_test, follows_links_that_stay_beneath) {
  if (!GetParam()) GTEST_SKIP() << "walking follows none";
  EXPECT_EQ(described("inner", symlinks::beneath), "text");
  EXPECT_EQ(described("folder/b.txt", symlinks::beneath), "more");
  for (std::string_view path : {"outer", "absolute", "loop"})
    EXPECT_EQ(described(path, symlinks::beneath), "not_found") << path;
}

TEST_P(open_beneath_test, tells_when_a_file_changed_and_closes_it) {
  auto opened = open_beneath(root_, "a.txt", symlinks::refused);
  ASSERT_TRUE(opened);
  struct stat found{};
  ASSERT_EQ(::stat((folder_ / "root/a.txt").c_str(), &found), 0);
  EXPECT_EQ(opened->modified_ns() / 1'000'000'000, found.st_mtim.tv_sec);
  const int fd = opened->release();
  EXPECT_EQ(opened->descriptor(), -1);
  EXPECT_EQ(::close(fd), 0);
}

INSTANTIATE_TEST_SUITE_P(by_openat2_and_by_walking, open_beneath_test, ::testing::Bool());

}  // namespace
}  // namespace weft::http

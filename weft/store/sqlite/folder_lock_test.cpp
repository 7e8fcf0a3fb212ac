#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/store/sqlite/folder_lock.hpp>

namespace weft::store::sqlite {
namespace {

namespace files = std::filesystem;

class folder_lock_test : public ::testing::Test {
 protected:
  void TearDown() override { remove_folder(folder_); }
  [[nodiscard]] std::string path() const { return folder_ + "/.weft.lock"; }
  [[nodiscard]] std::string text() const {
    std::ifstream file{path()};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  /// As a program leaves it that is killed.
  void leave(const std::string& left) const { std::ofstream{path()} << left; }

  std::string folder_ = make_folder();
};

TEST_F(folder_lock_test, is_one_programs_and_says_whose) {
  {
    const folder_lock first{folder_};
    EXPECT_TRUE(first.is_held() && first.trouble().empty());
    struct stat found{};
    ASSERT_EQ(::stat(path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    const folder_lock second{folder_};
    EXPECT_FALSE(second.is_held());
    EXPECT_TRUE(second.trouble().starts_with("process " + std::to_string(::getpid()) + " of host "))
        << second.trouble();
  }
  EXPECT_FALSE(files::exists(path())) << "a clean end leaves nothing";
}

TEST_F(folder_lock_test, takes_over_what_a_killed_program_has_left) {
  std::string left;
  {
    folder_lock first{folder_};
    first.note_owner("shop.db", {{.inode = 17, .born = 4}, {.inode = 7, .born = 6}});
    first.note_owner("a b.db", {{.inode = 18, .born = 0}, {}});
    first.note_owner("shop.db", {{.inode = 19, .born = 5}, {.inode = 8, .born = 6}});
    left = text();
    first.keep();
  }
  ASSERT_EQ(text(), left);
  folder_lock next{folder_};
  EXPECT_TRUE(next.is_held());
  EXPECT_EQ(next.owner_of("shop.db").value_or(log_owner{}).database.inode, 19U);
  EXPECT_EQ(next.owner_of("shop.db").value_or(log_owner{}).database.born, 5);
  EXPECT_EQ(next.owner_of("shop.db").value_or(log_owner{}).log.inode, 8U);
  EXPECT_EQ(next.owner_of("a b.db").value_or(log_owner{}).database.inode, 18U);
  EXPECT_FALSE(next.owner_of("other.db").has_value());
  // Until it is opened a database is as it was, for who comes after that.
  EXPECT_TRUE(text().contains("database 19 5 8 6 shop.db\n")) << text();
}

TEST_F(folder_lock_test, believes_a_trace_until_the_machine_starts_anew_or_the_owner_is_another) {
  const file_trace is{{{.bytes = 8192, .seconds = 5, .nanoseconds = 6},
                       {.salts = {7, 4'000'000'000}, .begun = 9, .done = 9}},
                      10};
  {
    folder_lock first{folder_};
    first.note_trace("nobody.db", is);
    first.note_owner("shop.db", {{.inode = 19, .born = 5}, {.inode = 8, .born = 6}});
    first.note_owner("a b.db", {{.inode = 18, .born = 5}, {.inode = 9, .born = 6}});
    first.note_trace("shop.db", is);
    first.note_trace("a b.db", is);
    first.note_owner("a b.db", {{.inode = 20, .born = 5}, {.inode = 10, .born = 6}});
    first.keep();
  }
  const std::string left = text();
  EXPECT_TRUE(left.contains("trace 8192 5 6 7 4000000000 9 9 10 shop.db\nend\n")) << left;
  {
    folder_lock next{folder_};
    const auto found = next.trace_of("shop.db");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->last, is.last);
    EXPECT_EQ(found->commits, 10U);
    EXPECT_FALSE(next.trace_of("a b.db").has_value()) << "that was of another log";
    EXPECT_FALSE(next.trace_of("nobody.db").has_value());
    EXPECT_EQ(text().substr(text().find("boot ")), left.substr(left.find("boot ")));
    next.keep();
  }
  leave(left + "trace 1 2 3 4 5 6 7 8 shop.db\n");
  {
    folder_lock over_a_longer_text{folder_};
    const auto found = over_a_longer_text.trace_of("shop.db");
    EXPECT_TRUE(found && found->last == is.last) << "what is behind the end is older";
    over_a_longer_text.keep();
  }
  leave(left.substr(0, left.find("boot ")) + "boot another\n" + left.substr(left.find("trace ")));
  const folder_lock after_a_restart{folder_};
  EXPECT_TRUE(after_a_restart.owner_of("shop.db").has_value());
  EXPECT_FALSE(after_a_restart.trace_of("shop.db").has_value());
}

TEST_F(folder_lock_test, does_not_believe_what_is_of_another_host_or_folder_or_broken) {
  std::string good;
  {
    folder_lock first{folder_};
    first.note_owner("shop.db", {{.inode = 17, .born = 4}, {.inode = 7, .born = 6}});
    good = text();
    first.keep();
  }
  const auto with = [&](std::string_view line, const std::string& other) {
    std::string changed = good;
    const auto at = changed.find(line);
    changed.replace(at, changed.find('\n', at) - at, other);
    return changed;
  };
  for (const std::string& each :
       {with("host ", "host elsewhere"), with("lock ", "lock 1"), with("lock ", "lock x"),
        with("database ", "database 17"), with("database ", "database -1 4 7 6 shop.db"),
        std::string{}, std::string(100'000, 'x')}) {
    leave(each);
    const folder_lock next{folder_};
    EXPECT_TRUE(next.is_held());
    EXPECT_FALSE(next.owner_of("shop.db").has_value()) << each.substr(0, 200);
    files::remove(path());
    leave("");
  }
}

TEST_F(folder_lock_test, follows_no_link_and_waits_for_no_fifo) {
  const std::string precious = folder_ + "/precious";
  std::ofstream{precious} << "precious";
  files::create_symlink(precious, path());
  {
    const folder_lock over_a_link{folder_};
    EXPECT_FALSE(over_a_link.is_held());
    EXPECT_TRUE(over_a_link.trouble().starts_with(path())) << over_a_link.trouble();
  }
  EXPECT_EQ(files::file_size(precious), 8U);
  files::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  const folder_lock over_a_fifo{folder_};
  EXPECT_FALSE(over_a_fifo.is_held());
  EXPECT_TRUE(over_a_fifo.trouble().contains("no regular file")) << over_a_fifo.trouble();
}

TEST_F(folder_lock_test, is_done_without_where_there_is_no_folder) {
  const folder_lock nowhere{folder_ + "/none"};
  EXPECT_FALSE(nowhere.is_held());
  EXPECT_FALSE(nowhere.trouble().empty());
}

}  // namespace
}  // namespace weft::store::sqlite

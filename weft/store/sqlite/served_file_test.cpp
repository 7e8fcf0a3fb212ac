// What a killed program has left beside a database is put into its own file, and nowhere else.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/store/sqlite/folder_lock.hpp>
#include <weft/store/sqlite/library.hpp>
#include <weft/store/sqlite/served_file.hpp>

namespace weft::store::sqlite {
namespace {

namespace files = std::filesystem;

constexpr std::string_view overwritten = "was overwritten in place after weft was killed";
constexpr std::string_view journal = "there is a rollback journal (-journal)";

class served_file_test : public ::testing::Test {
 protected:
  void SetUp() override {
    prepare_library();
    folder_ = files::canonical(make_folder()).string();
    for (const char* const name : {"/old", "/new"}) make(folder_ + name);
    // This process has opened no index of that name.
    files::rename(folder_ + "/old", path());
  }
  void TearDown() override { remove_folder(folder_); }

  [[nodiscard]] std::string path() const { return folder_ + "/shop.db"; }

  static void make(const std::string& path) {
    sqlite3* made = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &made), SQLITE_OK);
    EXPECT_EQ(
        sqlite3_exec(made, "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1)",
                     nullptr, nullptr, nullptr),
        SQLITE_OK);
    sqlite3_close(made);
  }

  /// Another process serves the file, writes to it, and ends without closing anything. `sql` is
  /// what it runs after its first row.
  void serve_and_be_killed(const char* sql = "") const {
    const pid_t other = ::fork();
    if (other == 0) {
      folder_lock lock{folder_};
      served_file file{path(), lock, [] {}};
      auto by = file.open(access::read_write);
      const bool is_good = by &&
                           by->run("PRAGMA wal_autocheckpoint=0; INSERT INTO t VALUES(2)") == 0 &&
                           by->look() == file_place::in_place;
      if (!is_good) ::_exit(1);
      file.note_log(*by);
      file.note_trace(*by);
      const bool is_as_it_was = by->run(sql) == 0 && by->look() == file_place::in_place;
      by->remember();
      file.note_trace(*by);
      ::_exit(is_as_it_was ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(other, &status, 0), other);
    ASSERT_EQ(status, 0);
    ASSERT_GT(files::file_size(path() + "-wal"), 0U);
  }

  void overwrite() const {
    const auto before = files::last_write_time(path());
    files::copy_file(folder_ + "/new", path(), files::copy_options::overwrite_existing);
    // The kernel's clock has gone on since the last write.
    files::last_write_time(path(), before + std::chrono::milliseconds{8});
  }

  /// Empty: it is opened, and has so many rows.
  [[nodiscard]] std::string open_next(int rows) const {
    folder_lock lock{folder_};
    served_file file{path(), lock, [] {}};
    auto opened = file.open(access::read_only);
    EXPECT_EQ(file.is_refused(), !opened);
    EXPECT_EQ(file.take_left_log(), opened.has_value());
    if (!opened) {
      lock.keep();
      return opened.error();
    }
    EXPECT_EQ(opened->number("SELECT count(*) FROM t"), rows);
    return {};
  }

  /// As an index has it of which pages are being moved.
  void set_index_word(off_t at, std::uint32_t to) const {
    const int opened = ::open((path() + "-shm").c_str(), O_WRONLY);
    EXPECT_EQ(::pwrite(opened, &to, sizeof to, at * 4), 4);
    ::close(opened);
  }

  std::string folder_;
};

TEST_F(served_file_test, goes_on_with_the_log_of_a_killed_program) {
  serve_and_be_killed();
  EXPECT_EQ(open_next(2), "");
}

TEST_F(served_file_test, goes_on_after_pages_were_moved) {
  serve_and_be_killed("PRAGMA wal_checkpoint(PASSIVE); INSERT INTO t VALUES(3)");
  EXPECT_EQ(open_next(3), "");
}

TEST_F(served_file_test, puts_no_log_into_content_that_was_overwritten) {
  serve_and_be_killed();
  overwrite();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(open_next(0).contains(overwritten));
}

TEST_F(served_file_test, puts_no_log_into_content_that_was_overwritten_after_pages_were_moved) {
  serve_and_be_killed("PRAGMA wal_checkpoint(PASSIVE); INSERT INTO t VALUES(3)");
  overwrite();
  EXPECT_TRUE(open_next(0).contains(overwritten));
}

TEST_F(served_file_test, puts_no_log_into_a_truncated_file) {
  serve_and_be_killed();
  files::resize_file(path(), 0);
  EXPECT_TRUE(open_next(0).contains(overwritten));
}

TEST_F(served_file_test, refuses_nothing_while_somebody_may_have_moved_pages) {
  serve_and_be_killed();
  // The same content, written by whoever moves pages.
  files::last_write_time(path(), files::last_write_time(path()) + std::chrono::seconds{1});
  set_index_word(32, 2);  // pages are being moved
  EXPECT_EQ(open_next(2), "");
}

TEST_F(served_file_test, refuses_nothing_once_the_index_has_been_rebuilt) {
  serve_and_be_killed();
  files::last_write_time(path(), files::last_write_time(path()) + std::chrono::seconds{1});
  set_index_word(2, 0);  // commits since it was built
  EXPECT_EQ(open_next(2), "");
}

TEST_F(served_file_test, refuses_nothing_where_there_is_no_index) {
  serve_and_be_killed();
  files::last_write_time(path(), files::last_write_time(path()) + std::chrono::seconds{1});
  files::remove(path() + "-shm");
  EXPECT_EQ(open_next(2), "");
}

TEST_F(served_file_test, puts_no_journal_into_another_file) {
  folder_lock lock{folder_};
  served_file file{path(), lock, [] {}};
  ASSERT_TRUE(file.open(access::read_only));
  files::rename(folder_ + "/new", path());
  std::ofstream{path() + "-journal"} << "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and more";
  const auto refused = file.open(access::read_only);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().contains(journal)) << refused.error();
  EXPECT_TRUE(file.is_refused());
  std::ofstream{path() + "-journal"} << std::string(64, '\0');  // one that has been rolled back
  EXPECT_TRUE(file.open(access::read_only));
  EXPECT_FALSE(file.is_refused());
}

TEST_F(served_file_test, puts_no_journal_into_another_file_after_a_kill) {
  serve_and_be_killed();
  files::rename(folder_ + "/new", path());
  for (const char* const ending : {"-wal", "-shm"}) files::remove(path() + ending);
  std::ofstream{path() + "-journal"} << "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and more";
  EXPECT_TRUE(open_next(0).contains(journal));
}

}  // namespace
}  // namespace weft::store::sqlite

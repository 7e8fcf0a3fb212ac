// What has become of a connection's files is seen, whether their folder was quiet before or not.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/store/sqlite/handle.hpp>
#include <weft/store/sqlite/library.hpp>

namespace weft::store::sqlite {
namespace {

namespace files = std::filesystem;

/// Of the parameter: whether the folder has been left alone for longer than its clock's tick.
class file_watch_test : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    prepare_library();
    folder_ = files::canonical(make_folder()).string();
    make(path());
    make(folder_ + "/new");
    auto opened = connection::open(path(), access::read_write);
    ASSERT_TRUE(opened) << opened.error();
    tried_.emplace(std::move(*opened));
    tried_->count_as(std::make_shared<file_memory>());
    ASSERT_EQ(tried_->run("INSERT INTO t VALUES(2)"), SQLITE_OK);
    if (GetParam()) std::this_thread::sleep_for(std::chrono::milliseconds{120});
    for (int i = 0; i < 3; ++i) ASSERT_EQ(tried_->look(), file_place::in_place);
    tried_->remember();
  }
  void TearDown() override {
    tried_.reset();
    remove_folder(folder_);
  }

  static void make(const std::string& path) {
    sqlite3* made = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &made), SQLITE_OK);
    EXPECT_EQ(
        sqlite3_exec(made, "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1)",
                     nullptr, nullptr, nullptr),
        SQLITE_OK);
    sqlite3_close(made);
  }
  [[nodiscard]] std::string path() const { return folder_ + "/shop.db"; }

  std::string folder_;
  std::optional<connection> tried_;
};
INSTANTIATE_TEST_SUITE_P(quiet, file_watch_test, ::testing::Bool());

TEST_P(file_watch_test, sees_another_file_in_its_place) {
  files::rename(folder_ + "/new", path());
  EXPECT_EQ(tried_->look(), file_place::replaced);
}

TEST_P(file_watch_test, sees_another_file_though_the_former_one_has_a_name) {
  files::create_hard_link(path(), folder_ + "/kept");
  files::rename(folder_ + "/new", path());
  EXPECT_EQ(tried_->look(), file_place::replaced);
}

TEST_P(file_watch_test, sees_that_it_is_gone_and_is_back) {
  files::rename(path(), folder_ + "/away");
  EXPECT_EQ(tried_->look(), file_place::gone);
  files::rename(folder_ + "/away", path());
  EXPECT_EQ(tried_->look(), file_place::in_place);
}

TEST_P(file_watch_test, sees_that_its_folder_is_gone_or_another) {
  const std::string away = folder_ + "-away";
  files::rename(folder_, away);
  EXPECT_EQ(tried_->look(), file_place::gone);
  files::create_directory(folder_);
  make(path());
  EXPECT_EQ(tried_->look(), file_place::replaced);
  files::remove_all(folder_);
  files::rename(away, folder_);
  EXPECT_EQ(tried_->look(), file_place::in_place);
}

TEST_P(file_watch_test, sees_that_log_or_index_is_gone_or_another) {
  for (const char* const ending : {"-wal", "-shm"}) {
    const std::string name = path() + ending;
    files::rename(name, folder_ + "/away");
    EXPECT_EQ(tried_->look(), file_place::log_gone) << ending;
    std::ofstream{name} << "another";
    EXPECT_EQ(tried_->look(), file_place::log_replaced) << ending;
    files::rename(folder_ + "/away", name);
    EXPECT_EQ(tried_->look(), file_place::in_place) << ending;
  }
}

TEST_P(file_watch_test, sees_what_was_overwritten_and_not_what_sqlite_moved) {
  ASSERT_EQ(tried_->run("PRAGMA wal_checkpoint(TRUNCATE)"), SQLITE_OK);
  EXPECT_EQ(tried_->look(), file_place::in_place);
  ASSERT_EQ(tried_->run("INSERT INTO t VALUES(3)"), SQLITE_OK);
  tried_->remember();
  const auto before = files::last_write_time(path());
  files::copy_file(folder_ + "/new", path(), files::copy_options::overwrite_existing);
  files::last_write_time(path(), before + std::chrono::milliseconds{8});
  EXPECT_EQ(tried_->look(), file_place::overwritten);
}

TEST(file_watch, follows_a_link_and_sees_that_it_leads_elsewhere) {
  prepare_library();
  const std::string folder = files::canonical(make_folder()).string();
  for (const char* const name : {"/one", "/two"}) {
    sqlite3* made = nullptr;
    EXPECT_EQ(sqlite3_open((folder + name).c_str(), &made), SQLITE_OK);
    EXPECT_EQ(
        sqlite3_exec(made, "PRAGMA journal_mode=WAL; CREATE TABLE t(a)", nullptr, nullptr, nullptr),
        SQLITE_OK);
    sqlite3_close(made);
  }
  files::create_directory(folder + "/served");
  const std::string link = folder + "/served/shop.db";
  files::create_symlink(folder + "/one", link);
  {
    auto tried = connection::open(link, access::read_write);
    ASSERT_TRUE(tried) << tried.error();
    ASSERT_EQ(tried->run("INSERT INTO t VALUES(1)"), SQLITE_OK);
    EXPECT_EQ(tried->look(), file_place::in_place);
    std::this_thread::sleep_for(std::chrono::milliseconds{120});
    EXPECT_EQ(tried->look(), file_place::in_place);
    files::remove(link);
    files::create_symlink(folder + "/two", link);
    EXPECT_EQ(tried->look(), file_place::replaced);
  }
  remove_folder(folder);
}

TEST(file_watch, sees_that_a_link_to_its_folder_leads_elsewhere) {
  prepare_library();
  const std::string folder = files::canonical(make_folder()).string();
  for (const char* const name : {"/one", "/two"}) {
    files::create_directory(folder + name);
    sqlite3* made = nullptr;
    EXPECT_EQ(sqlite3_open((folder + name + "/shop.db").c_str(), &made), SQLITE_OK);
    EXPECT_EQ(
        sqlite3_exec(made, "PRAGMA journal_mode=WAL; CREATE TABLE t(a)", nullptr, nullptr, nullptr),
        SQLITE_OK);
    sqlite3_close(made);
  }
  const std::string link = folder + "/served";
  files::create_symlink(folder + "/one", link);
  {
    auto tried = connection::open(link + "/shop.db", access::read_write);
    ASSERT_TRUE(tried) << tried.error();
    ASSERT_EQ(tried->run("INSERT INTO t VALUES(1)"), SQLITE_OK);
    EXPECT_EQ(tried->look(), file_place::in_place);
    std::this_thread::sleep_for(std::chrono::milliseconds{120});
    EXPECT_EQ(tried->look(), file_place::in_place);
    EXPECT_EQ(tried->look(), file_place::in_place);
    files::remove(link);
    EXPECT_EQ(tried->look(), file_place::gone);
    files::create_symlink(folder + "/two", link);
    EXPECT_EQ(tried->look(), file_place::replaced);
    files::remove(link);
    files::create_symlink(folder + "/one", link);
    EXPECT_EQ(tried->look(), file_place::in_place);
  }
  remove_folder(folder);
}

}  // namespace
}  // namespace weft::store::sqlite

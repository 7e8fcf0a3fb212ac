#include <weft/store/sqlite/lock_wait.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

namespace weft::store::sqlite {
namespace {

/// A file that one connection has locked, and another that wants to write to it.
class lock_wait_test : public ::testing::Test {
 protected:
  lock_wait_test() {
    EXPECT_EQ(sqlite3_open(path_.c_str(), &holder_), SQLITE_OK);
    EXPECT_EQ(sqlite3_open(path_.c_str(), &waiter_), SQLITE_OK);
    EXPECT_EQ(run(holder_, "CREATE TABLE t(a); BEGIN IMMEDIATE"), SQLITE_OK);
  }
  ~lock_wait_test() override {
    sqlite3_close(waiter_);
    sqlite3_close(holder_);
    std::filesystem::remove(path_);
  }

  static int run(sqlite3* on, const char* sql) {
    return sqlite3_exec(on, sql, nullptr, nullptr, nullptr);
  }

  std::string path_ =
      (std::filesystem::temp_directory_path() / ("weft-lock-" + std::to_string(::getpid())))
          .string();
  sqlite3* holder_ = nullptr;
  sqlite3* waiter_ = nullptr;
};

TEST_F(lock_wait_test, of_no_length_is_over_at_once) {
  lock_wait patience{duration::zero()};
  patience.attach(waiter_);
  EXPECT_EQ(run(waiter_, "BEGIN IMMEDIATE"), SQLITE_BUSY);
}

TEST_F(lock_wait_test, ends_when_the_lock_is_released) {
  lock_wait patience{std::chrono::hours{1}};
  patience.attach(waiter_);
  std::thread other{[this] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});  // the other has begun, or not yet
    EXPECT_EQ(run(holder_, "COMMIT"), SQLITE_OK);
  }};
  EXPECT_EQ(run(waiter_, "BEGIN IMMEDIATE; COMMIT"), SQLITE_OK);
  other.join();
}

/// Without batches a later call does not count the time of an earlier one.
TEST_F(lock_wait_test, begins_again_with_each_call) {
  lock_wait patience{std::chrono::milliseconds{20}};
  patience.attach(waiter_);
  for (int i = 0; i < 2; ++i) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(run(waiter_, "BEGIN IMMEDIATE"), SQLITE_BUSY);
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds{20});
  }
}

}  // namespace
}  // namespace weft::store::sqlite

// Files are moved, removed and overwritten before the look at them that a commit begins with, and
// between that and the reply. No batch is acknowledged into a file that no longer has the name.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

namespace files = std::filesystem;

enum class moment : std::uint8_t { of_lock, of_write };

/// Runs a function once, before SQLite next locks a file against others, or writes to one.
class before_call {
 public:
  before_call(moment when, std::function<void()> run) {
    run_ = std::move(run);
    if (when == moment::of_lock) {
      replace("fcntl", &lock);
    } else {
      replace("write", &write);
      replace("pwrite", &write_at);
      replace("pwrite64", &write_at);
    }
  }
  before_call(const before_call&) = delete;
  before_call& operator=(const before_call&) = delete;
  ~before_call() {
    for (const auto& [name, call] : before_) below_->xSetSystemCall(below_, name, call);
    run_ = nullptr;
  }
  [[nodiscard]] static bool has_run() { return run_ == nullptr; }

 private:
  template <class Call>
  void replace(const char* name, Call* with) {
    before_.emplace_back(name, below_->xGetSystemCall(below_, name));
    below_->xSetSystemCall(below_, name, reinterpret_cast<sqlite3_syscall_ptr>(with));
  }
  static void run() {
    if (const auto now = std::exchange(run_, nullptr)) now();
  }
  static int lock(int file, int command, ...) {
    va_list all;
    va_start(all, command);
    void* const with = va_arg(all, void*);
    va_end(all);
    if (command == F_SETLK && static_cast<const struct flock*>(with)->l_type == F_WRLCK) run();
    return ::fcntl(file, command, with);
  }
  static ssize_t write(int file, const void* bytes, std::size_t size) {
    run();
    return ::write(file, bytes, size);
  }
  static ssize_t write_at(int file, const void* bytes, std::size_t size, off_t at) {
    run();
    return ::pwrite(file, bytes, size, at);
  }

  static inline std::function<void()> run_;
  sqlite3_vfs* below_ = sqlite3_vfs_find("unix");
  std::vector<std::pair<const char*, sqlite3_syscall_ptr>> before_;
};

struct one_outcome final : write_sink {
  void done(std::size_t) override { is_done = true; }
  void missing(std::size_t) override {}
  void failed(std::size_t, const failure& why) override {
    kind = why.kind;
    message = why.message;
  }
  bool is_done = false;
  failure_kind kind = failure_kind::other;
  std::string message;
};

class moved_in_commit : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    options_.synchronous = durability::off;
    options_.schema_refresh = std::chrono::hours{1};
    make_database("shop", "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)");
    make_database("new", "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)");
    files::rename(path_of("new"), folder_ + "/new");
    files::create_hard_link(path_of("shop"), folder_ + "/former");
  }

  static task<one_outcome> write(engine& in, std::int64_t id) {
    const catalog_ref schema = in.schema();
    const table* const to = schema->find("shop", "t");
    const value key = value::integer(id);
    const value set = value::text("written");
    const column_position column = to->find("a").value();
    const key_write operation{write_kind::insert, to, {&key, 1}, {&column, 1}, {&set, 1}};
    one_outcome sink;
    EXPECT_TRUE(co_await in.write({&operation, 1}, sink));
    co_return sink;
  }

  /// A first row, and a second one in whose commit, or before it, `happens`.
  one_outcome write_while(const std::function<void()>& happens, moment when = moment::of_write) {
    one_outcome second;
    run([&](engine& shop) -> task<void> {
      const one_outcome first = co_await write(shop, 1);
      EXPECT_TRUE(first.is_done) << first.message;
      const before_call armed{when, happens};
      second = co_await write(shop, 2);
      EXPECT_TRUE(before_call::has_run());
    });
    return second;
  }

  static bool has_row(const std::string& path, int id) {
    sqlite3* opened = nullptr;
    sqlite3_stmt* find = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr), SQLITE_OK);
    sqlite3_prepare_v2(opened, "SELECT 1 FROM t WHERE id=?1", -1, &find, nullptr);
    sqlite3_bind_int(find, 1, id);
    const bool has = sqlite3_step(find) == SQLITE_ROW;
    sqlite3_finalize(find);
    sqlite3_close(opened);
    return has;
  }
};
INSTANTIATE_TEST_SUITE_P(sqlite, moved_in_commit, ::testing::Values(backend_kind::simulated),
                         backend_name);

TEST_P(moved_in_commit, that_has_not_begun_goes_to_the_file_that_is_there_now) {
  const one_outcome seen =
      write_while([this] { files::rename(folder_ + "/new", path_of("shop")); }, moment::of_lock);
  EXPECT_TRUE(seen.is_done) << seen.message;
  EXPECT_TRUE(has_row(path_of("shop"), 2) && !has_row(path_of("shop"), 1));
  EXPECT_TRUE(has_row(folder_ + "/former", 1) && !has_row(folder_ + "/former", 2));
}

TEST_P(moved_in_commit, into_a_replaced_file_is_no_success) {
  const one_outcome seen =
      write_while([this] { files::rename(folder_ + "/new", path_of("shop")); });
  EXPECT_FALSE(seen.is_done);
  EXPECT_EQ(seen.kind, failure_kind::input_output);
  EXPECT_TRUE(seen.message.contains("they are not in the one that is there now")) << seen.message;
  EXPECT_FALSE(has_row(path_of("shop"), 1) || has_row(path_of("shop"), 2));
  EXPECT_TRUE(has_row(folder_ + "/former", 1));
}

TEST_P(moved_in_commit, into_a_removed_file_is_no_success) {
  const one_outcome seen = write_while([this] { files::remove(path_of("shop")); });
  EXPECT_FALSE(seen.is_done);
  EXPECT_EQ(seen.kind, failure_kind::input_output);
  EXPECT_FALSE(files::exists(path_of("shop")));
}

TEST_P(moved_in_commit, into_a_removed_log_is_in_the_file_when_it_is_acknowledged) {
  const one_outcome seen = write_while([this] { files::remove(path_of("shop") + "-wal"); });
  EXPECT_TRUE(seen.is_done) << seen.message;
  EXPECT_TRUE(has_row(path_of("shop"), 1) && has_row(path_of("shop"), 2));
}

TEST_P(moved_in_commit, into_a_replaced_log_is_unknown) {
  const one_outcome seen = write_while([this] {
    files::rename(path_of("shop") + "-wal", folder_ + "/former-log");
    files::copy_file(folder_ + "/former-log", path_of("shop") + "-wal");
  });
  EXPECT_FALSE(seen.is_done);
  EXPECT_EQ(seen.kind, failure_kind::unknown);
}

TEST_P(moved_in_commit, into_an_overwritten_file_is_no_success) {
  const auto former = files::last_write_time(path_of("shop"));
  const one_outcome seen = write_while([this, former] {
    files::copy_file(folder_ + "/new", path_of("shop"), files::copy_options::overwrite_existing);
    // The kernel's clock has gone on since the last write.
    files::last_write_time(path_of("shop"), former + std::chrono::milliseconds{8});
  });
  EXPECT_FALSE(seen.is_done);
  EXPECT_EQ(seen.kind, failure_kind::input_output);
}

}  // namespace
}  // namespace weft::store::sqlite

// Files are moved, removed and overwritten while a commit is being written: between the look before
// it and the reply. No batch is acknowledged into a file that no longer has the name.
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

namespace files = std::filesystem;

/// Runs a function once, before SQLite next writes to a file.
class before_write {
 public:
  explicit before_write(std::function<void()> run) {
    run_ = std::move(run);
    sqlite3_vfs* const below = sqlite3_vfs_find("unix");
    for (const char* const name : {"write", "pwrite", "pwrite64"}) {
      before_.push_back({name, below->xGetSystemCall(below, name)});
      const bool is_simple = std::string{name} == "write";
      below->xSetSystemCall(below, name,
                            is_simple ? reinterpret_cast<sqlite3_syscall_ptr>(&write)
                                      : reinterpret_cast<sqlite3_syscall_ptr>(&write_at));
    }
  }
  before_write(const before_write&) = delete;
  before_write& operator=(const before_write&) = delete;
  ~before_write() {
    sqlite3_vfs* const below = sqlite3_vfs_find("unix");
    for (const auto& [name, call] : before_) below->xSetSystemCall(below, name, call);
    run_ = nullptr;
  }
  [[nodiscard]] static bool has_run() { return run_ == nullptr; }

 private:
  static void run() {
    if (const auto now = std::exchange(run_, nullptr)) now();
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

  /// A first row, and a second one in whose commit `happens`.
  one_outcome write_while(const std::function<void()>& happens) {
    one_outcome second;
    run([&](engine& shop) -> task<void> {
      const one_outcome first = co_await write(shop, 1);
      EXPECT_TRUE(first.is_done) << first.message;
      const before_write armed{happens};
      second = co_await write(shop, 2);
      EXPECT_TRUE(before_write::has_run());
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

// Files are moved, removed and overwritten at random beneath an engine that reads and writes, and
// each answer and each file is compared with a model. A seed that fails is printed;
// WEFT_FILE_SEEDS=2000 tries more of them, WEFT_FILE_SEED=n one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/random.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

namespace files = std::filesystem;

constexpr std::int64_t rows = 12;
constexpr int steps = 16;

struct outcome_of_one final : write_sink {
  void done(std::size_t) override { is_done = true; }
  void missing(std::size_t) override {}
  void failed(std::size_t, const failure& why) override { message = why.message; }
  bool is_done = false;
  std::string message;
};

/// A file by whatever name, and what has been acknowledged into it.
struct model_file {
  std::string kept;  // another name that it has
  std::map<std::int64_t, std::string> rows;
};

class moved_files : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    options_.synchronous = durability::off;
    options_.schema_refresh = std::chrono::hours{1};
  }

  /// A new file, of which each row says which it is.
  std::size_t make_file(const std::string& path) {
    model_file made{.kept = folder_ + "/kept" + std::to_string(all_.size()), .rows = {}};
    std::string sql = "PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL;";
    if (draw_.below(2) == 0) sql += "CREATE TABLE u(x TEXT);";
    sql += "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT); BEGIN;";
    for (std::int64_t id = 0; id < rows; ++id) {
      made.rows[id] = "f" + std::to_string(all_.size()) + "_" + std::to_string(id);
      sql += "INSERT INTO t VALUES(" + std::to_string(id) + ",'" + made.rows[id] + "');";
    }
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, (sql + "COMMIT").c_str(), nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(database);
    files::create_hard_link(path, made.kept);
    all_.push_back(std::move(made));
    return all_.size() - 1;
  }

  task<void> read_one(engine& in) {
    const auto id = static_cast<std::int64_t>(draw_.below(rows));
    const std::string told = co_await look_up(in, "shop", "t", {value::integer(id)}, {"a"});
    note("read " + told);
    if (is_gone_) {
      EXPECT_FALSE(told.starts_with('[')) << told;
    } else if (!is_refused_) {
      has_log_ = has_log_ && !has_lost_index_;
      has_lost_index_ = false;
      EXPECT_EQ(told, "[\"" + all_[served_].rows.at(id) + "\"]");
    } else {
      EXPECT_TRUE(told.starts_with('!')) << told;
    }
  }

  task<void> write_one(engine& in) {
    const catalog_ref schema = in.schema();
    const table* const to = schema->find("shop", "t");
    if (to == nullptr) co_return;
    const auto id = static_cast<std::int64_t>(draw_.below(rows));
    const std::string text = "w" + std::to_string(++written_);
    const value key = value::integer(id);
    const value set = value::text(text);
    const column_position column = to->find("a").value();
    const key_write operation{write_kind::upsert, to, {&key, 1}, {&column, 1}, {&set, 1}};
    outcome_of_one sink;
    const auto written = co_await in.write({&operation, 1}, sink);
    EXPECT_TRUE(written);
    note("write " + text + (sink.is_done ? " done" : " " + sink.message));
    EXPECT_EQ(sink.is_done, !is_gone_ && !is_refused_) << sink.message;
    if (sink.is_done) all_[served_].rows[id] = text;
    has_log_ = has_log_ || sink.is_done;
    has_lost_index_ = has_lost_index_ && !sink.is_done;
  }

  void move_over() {
    const std::size_t next = make_file(folder_ + "/new");
    files::rename(folder_ + "/new", path_of("shop"));
    // A log that was left to a file that has been overwritten is nobody's.
    if (is_refused_) remove_log();
    become(next);
  }

  task<void> swap_files(engine& in) {
    const std::size_t next = make_file(folder_ + "/new");
    const auto swapped = co_await in.swap({.database = "shop", .file = folder_ + "/new"});
    EXPECT_EQ(swapped.has_value(), !is_gone_ && !is_refused_)
        << (swapped ? std::string{} : swapped.error());
    if (swapped) become(next);
    files::remove(folder_ + "/new");
  }

  void remove_log() {
    for (const char* const ending : {"-wal", "-shm"}) files::remove(path_of("shop") + ending);
    has_log_ = false;
    is_refused_ = false;
  }

  void remove_a_part_of_the_log() {
    if (is_refused_) return remove_log();
    const auto drawn = draw_.below(3);
    if (drawn != 0) files::remove(path_of("shop") + "-wal");
    if (drawn != 1) files::remove(path_of("shop") + "-shm");
    // Whoever looks next has the rows of the log put into the database; if the log is still there,
    // it is not empty until then.
    has_log_ = has_log_ && drawn == 0;
    has_lost_index_ = drawn != 1;
  }

  void overwrite(engine&) {
    if (is_gone_ || is_refused_) return;
    const std::size_t next = make_file(folder_ + "/new");
    // The kernel's clock has gone on since the last write.
    const auto before = files::last_write_time(path_of("shop"));
    files::copy_file(folder_ + "/new", path_of("shop"), files::copy_options::overwrite_existing);
    files::last_write_time(path_of("shop"), before + std::chrono::milliseconds{8});
    files::remove(folder_ + "/new");
    // The same inode has other rows now.
    all_[served_].rows = all_[next].rows;
    files::remove(all_[next].kept);
    all_.pop_back();
    is_refused_ = has_log_;
  }

  void remove_file() {
    files::remove(path_of("shop"));
    is_gone_ = true;
  }

  void become(std::size_t next) {
    served_ = next;
    has_log_ = false;
    has_lost_index_ = false;
    is_gone_ = false;
    is_refused_ = false;
  }

  task<void> step(engine& in) {
    const auto drawn = draw_.below(20);
    if (drawn < 7) {
      co_await read_one(in);
    } else if (drawn < 13) {
      co_await write_one(in);
    } else if (drawn == 13 || drawn == 14) {
      note("move");
      move_over();
      EXPECT_TRUE(co_await in.refresh());
    } else if (drawn == 15) {
      note("swap");
      co_await swap_files(in);
    } else if (drawn == 16 || drawn == 17) {
      note("log");
      remove_a_part_of_the_log();
    } else if (drawn == 18) {
      note("overwrite");
      overwrite(in);
    } else {
      note("remove");
      remove_file();
      EXPECT_TRUE(co_await in.refresh());
    }
    co_await next_turn();
  }

  void check_files() {
    for (const model_file& each : all_) {
      sqlite3* database = nullptr;
      // As it was left: with no log of any other name.
      EXPECT_EQ(sqlite3_open(each.kept.c_str(), &database), SQLITE_OK);
      std::map<std::int64_t, std::string> found;
      const auto take = [](void* into, int, char** values, char**) {
        (*static_cast<std::map<std::int64_t, std::string>*>(into))[std::atoll(values[0])] =
            values[1];
        return 0;
      };
      EXPECT_EQ(sqlite3_exec(database, "SELECT id,a FROM t", take, &found, nullptr), SQLITE_OK);
      EXPECT_EQ(found, each.rows) << each.kept;
      sqlite3_close(database);
    }
  }

  void note(const std::string& what) { told_ += what + "\n"; }

  random draw_{1};
  std::vector<model_file> all_;
  std::size_t served_ = 0;
  int written_ = 0;
  bool has_log_ = false;  // a file, with rows
  bool has_lost_index_ = false;
  bool is_gone_ = false;
  bool is_refused_ = false;
  std::string told_;
};
INSTANTIATE_TEST_SUITE_P(sqlite, moved_files, ::testing::Values(backend_kind::simulated),
                         backend_name);

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST_P(moved_files, are_never_mixed) {
  const std::uint64_t only = number_of("WEFT_FILE_SEED", 0);
  const std::uint64_t seeds = number_of("WEFT_FILE_SEEDS", 50);
  for (std::uint64_t seed = only != 0 ? only : 1; seed <= (only != 0 ? only : seeds); ++seed) {
    remove_folder(folder_);
    files::create_directory(folder_);
    draw_ = random{seed};
    all_.clear();
    told_.clear();
    become(make_file(path_of("shop")));
    run([&](engine& shop) -> task<void> {
      for (int i = 0; i < steps && !HasFailure(); ++i) co_await step(shop);
    });
    if (is_refused_) remove_log();
    check_files();
    ASSERT_FALSE(HasFailure()) << "WEFT_FILE_SEED=" << seed << "\n" << told_;
  }
}

}  // namespace
}  // namespace weft::store::sqlite

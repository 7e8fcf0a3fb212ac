// Memory runs out while groups of batches are written, at each allocation in turn: what is said of
// a batch is so, or is that nobody knows; and the writer goes on when there is memory again.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/random.hpp>
#include <weft/store/sqlite/database_swap.hpp>
#include <weft/store/sqlite/engine_counts.hpp>
#include <weft/store/sqlite/engine_fixture_test.hpp>
#include <weft/store/sqlite/folder_lock.hpp>
#include <weft/store/sqlite/memory_budget.hpp>
#include <weft/store/sqlite/queued_write.hpp>
#include <weft/store/sqlite/served_file.hpp>
#include <weft/store/sqlite/writer.hpp>
#include <weft/testing/allocation_failure.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::uint64_t seeds = 2'000;
constexpr std::int64_t there_already = 1;

/// What was said of a batch, and of nothing else in it.
struct said_sink final : write_sink {
  void done(std::size_t) override { ++dones; }
  void missing(std::size_t) override { ADD_FAILURE() << "only inserts are made"; }
  void failed(std::size_t, const failure& why) override {
    ++failures;
    unknowns += why.kind == failure_kind::unknown ? 1 : 0;
  }
  std::size_t dones = 0;
  std::size_t failures = 0;
  std::size_t unknowns = 0;
};

/// A batch of inserts.
struct written_batch {
  std::vector<std::int64_t> ids;
  std::vector<value> keys{};
  std::vector<value> notes{};
  std::vector<key_write> operations{};
  std::optional<queued_write> queued{};
};

class writer_memory : public engine_fixture {
 protected:
  void SetUp() override {
    engine_fixture::SetUp();
    options_.synchronous = durability::off;
    options_.checkpoint_pages = 20;
    make_database("shop",
                  "CREATE TABLE t(id INTEGER PRIMARY KEY, note TEXT);"
                  "CREATE TRIGGER ends_all BEFORE INSERT ON t WHEN NEW.note='end' "
                  "BEGIN SELECT RAISE(ROLLBACK, 'no more'); END;"
                  "INSERT INTO t VALUES(1,'one');");
    run([&](engine& shop) -> task<void> {
      schema_ = shop.schema();
      co_return;
    });
    counts_.emplace(metrics_->shard(0));
    ASSERT_EQ(sqlite3_open(path_of("shop").c_str(), &reader_), SQLITE_OK);
    sqlite3_prepare_v2(reader_, "PRAGMA schema_version", -1, &find_, nullptr);
    sqlite3_step(find_);
    version_ = sqlite3_column_int64(find_, 0);
    sqlite3_finalize(find_);
    sqlite3_prepare_v2(reader_, "SELECT 1 FROM t WHERE id=?1", -1, &find_, nullptr);
    make_writer();
  }
  void TearDown() override {
    writer_.reset();
    file_.reset();
    lock_.reset();
    sqlite3_finalize(find_);
    sqlite3_close(reader_);
    schema_ = {};
    engine_fixture::TearDown();
  }

  void make_writer() {
    writer_.reset();
    if (!lock_) lock_.emplace(std::filesystem::path{path_of("shop")}.parent_path().string());
    file_.emplace(path_of("shop"), *lock_, [] {});
    writer_.emplace(*file_, options_, commits_);
  }

  written_batch& add(std::deque<written_batch>& to, std::vector<std::int64_t> ids,
                     const char* note = "new") {
    static constexpr column_position note_at = 1;
    written_batch& made = to.emplace_back(std::move(ids));
    for (const std::int64_t id : made.ids) made.keys.push_back(value::integer(id));
    made.notes.assign(made.ids.size(), value::text(note));
    for (std::size_t i = 0; i < made.ids.size(); ++i)
      made.operations.push_back({.kind = write_kind::insert,
                                 .to = schema_->find("shop", "t"),
                                 .key = {&made.keys[i], 1},
                                 .columns = {&note_at, 1},
                                 .values = {&made.notes[i], 1}});
    made.queued.emplace(*loop_, *writer_, version_, made.operations);
    return made;
  }

  /// A batch that is done, one of which a row is there, one that ends the transaction if it is
  /// said so, so that each is tried alone, and two more that are done.
  void add_group(std::deque<written_batch>& to, bool ends_all) {
    const std::int64_t first = next_id_;
    next_id_ += 10;
    add(to, {first, first + 1});
    add(to, {first + 2, there_already});
    add(to, {first + 3});
    if (ends_all) add(to, {first + 4, first + 5}, "end");
    add(to, {first + 6, first + 7, first + 8});
  }

  void write(std::deque<written_batch>& group) {
    std::array<queued_write*, 8> all{};
    std::size_t size = 0;
    for (written_batch& each : group) all[size++] = &*each.queued;
    writer_->write_here({all.data(), size});
  }

  [[nodiscard]] bool is_there(std::int64_t id) const {
    sqlite3_reset(find_);
    sqlite3_bind_int64(find_, 1, id);
    const bool is_row = sqlite3_step(find_) == SQLITE_ROW;
    sqlite3_reset(find_);
    return is_row;
  }

  /// Compares what was said with what there is.
  void look_at(const written_batch& batch) {
    std::size_t there = 0;
    std::size_t wanted = 0;
    for (const std::int64_t id : batch.ids) {
      if (id == there_already) continue;
      ++wanted;
      there += is_there(id) ? 1 : 0;
    }
    EXPECT_TRUE(there == 0 || there == wanted) << "a batch is done as a whole, or not at all";
    if (const auto refused = batch.queued->await_resume(); !refused) {
      EXPECT_EQ(refused.error(), errc::exhausted);
      EXPECT_EQ(there, 0U) << "it was said that nothing was written";
      ++exhausted_;
      return;
    }
    said_sink said;
    batch.queued->tell(*counts_, said);
    EXPECT_EQ(said.dones + said.failures, batch.ids.size());
    if (said.unknowns != 0) {
      ++unknown_;
      return;
    }
    EXPECT_TRUE(said.dones == 0 || said.failures == 0);
    EXPECT_EQ(there != 0, said.dones != 0) << "it was said to be done: " << said.dones;
    (said.dones != 0 ? done_ : failed_) += 1;
  }

  /// Where all memory is there.
  void expect_that_it_goes_on(bool ends_all) {
    const std::size_t before = done_;
    std::deque<written_batch> group;
    add_group(group, ends_all);
    write(group);
    for (const written_batch& each : group) look_at(each);
    EXPECT_EQ(done_ - before, 3U);
  }

  catalog_ref schema_;
  std::optional<engine_counts> counts_;
  std::atomic<std::uint64_t> commits_{0};
  std::optional<folder_lock> lock_;
  std::optional<served_file> file_;
  std::optional<writer> writer_;
  std::int64_t version_ = 0;
  std::int64_t next_id_ = 100;
  sqlite3* reader_ = nullptr;
  sqlite3_stmt* find_ = nullptr;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  std::size_t exhausted_ = 0;
  std::size_t unknown_ = 0;
  std::size_t half_done_ = 0;  // groups
};
INSTANTIATE_TEST_SUITE_P(sqlite, writer_memory, ::testing::Values(backend_kind::simulated),
                         backend_name);

TEST_P(writer_memory, says_what_is_so_at_whichever_allocation_it_ends) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "the malloc is a sanitizer's";
  for (const bool ends_all : {false, true})
    for (const bool is_new : {false, true})
      for (const auto how : {testing::failing::once, testing::failing::for_good}) {
        std::uint64_t nth = 0;
        for (bool has_failed = true; has_failed; ++nth) {
          if (is_new) make_writer();
          std::deque<written_batch> group;
          add_group(group, ends_all);
          {
            const hoard all;
            const testing::allocation_failures here{nth + 1, how};
            write(group);
            has_failed = here.has_failed();
          }
          SCOPED_TRACE("allocation " + std::to_string(nth + 1));
          const std::size_t done = done_;
          const std::size_t exhausted = exhausted_;
          for (const written_batch& each : group) look_at(each);
          if (HasFailure()) return;
          half_done_ += done_ != done && exhausted_ != exhausted ? 1 : 0;
        }
        expect_that_it_goes_on(ends_all);
        EXPECT_GT(nth, 20U);
      }
  EXPECT_GT(half_done_, 20U) << "groups that ended after some of their batches were committed";
}

/// As SQLite's own allocations fail, whichever blocks it has from this thread.
TEST_P(writer_memory, says_what_is_so_where_sqlite_has_no_memory) {
  for (const bool ends_all : {false, true}) {
    bool was_exceeded = true;
    for (std::uint64_t bytes = 0; was_exceeded; bytes += 512) {
      make_writer();
      std::deque<written_batch> group;
      add_group(group, ends_all);
      {
        memory_budget most{bytes};
        const memory_budget::use here{most};
        write(group);
        was_exceeded = most.was_exceeded();
      }
      SCOPED_TRACE(std::to_string(bytes) + " bytes");
      for (const written_batch& each : group) look_at(each);
      if (HasFailure()) return;
    }
    expect_that_it_goes_on(ends_all);
  }
}

/// Groups of any shape, allocations of any number: `seed` says which.
TEST_P(writer_memory, says_what_is_so_of_any_group) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "the malloc is a sanitizer's";
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    random draw{seed};
    if (draw.below(8) == 0) make_writer();
    std::deque<written_batch> group;
    for (std::uint64_t batches = 1 + draw.below(6); batches > 0; --batches) {
      std::vector<std::int64_t> ids;
      for (std::uint64_t rows = 1 + draw.below(4); rows > 0; --rows)
        ids.push_back(draw.below(10) == 0 ? there_already : next_id_++);
      add(group, std::move(ids), draw.below(8) == 0 ? "end" : "new");
    }
    {
      const hoard all;
      const bool is_once = draw.below(2) == 0;
      const testing::allocation_failures here{
          1 + draw.below(300), is_once ? testing::failing::once : testing::failing::for_good};
      write(group);
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const written_batch& each : group) look_at(each);
    if (HasFailure()) return;
  }
  expect_that_it_goes_on(true);
}

/// A database that has the schema of the others, and its log rows.
class moved_database {
 public:
  moved_database(std::string path, std::string content, folder_lock& lock,
                 const engine_options& options, std::atomic<std::uint64_t>& commits)
      : path_{std::move(path)}, content_{std::move(content)} {
    for (const char* const ending : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + ending);
    put(content_);
    file_.emplace(path_, lock, [] {});
    writer_.emplace(*file_, options, commits);
  }

  [[nodiscard]] writer& by() noexcept { return *writer_; }
  /// In place, while it is open.
  void put(const std::string& content) const { std::ofstream{path_, std::ios::binary} << content; }
  [[nodiscard]] std::string content_at_the_end() {
    writer_.reset();
    return content_of(path_);
  }
  [[nodiscard]] static std::string content_of(const std::string& path) {
    std::ostringstream all;
    all << std::ifstream{path, std::ios::binary}.rdbuf();
    return all.str();
  }

 private:
  std::string path_;
  std::string content_;
  std::optional<served_file> file_;
  std::optional<writer> writer_;
};

TEST_P(writer_memory, puts_no_log_into_another_file_at_whichever_allocation_it_ends) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "the malloc is a sanitizer's";
  const std::string content = moved_database::content_of(path_of("shop"));
  const std::string other = content + std::string(4096, '\0');
  for (const auto how : {testing::failing::once, testing::failing::for_good}) {
    bool has_failed = true;
    for (std::uint64_t nth = 1; has_failed; ++nth) {
      moved_database moved{path_of("moved"), content, *lock_, options_, commits_};
      std::deque<written_batch> made;
      queued_write* const first = &*add(made, {next_id_++}).queued;
      queued_write* const second = &*add(made, {next_id_++}).queued;
      moved.by().write_here({&first, 1});
      moved.put(other);
      {
        const hoard all;
        const testing::allocation_failures here{nth, how};
        moved.by().write_here({&second, 1});
        has_failed = here.has_failed();
      }
      ASSERT_TRUE(moved.content_at_the_end() == other) << "allocation " << nth;
    }
  }
}

TEST_P(writer_memory, goes_on_after_a_swap_that_has_no_memory) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "the malloc is a sanitizer's";
  const std::string content = moved_database::content_of(path_of("shop"));
  const std::string path = path_of("moved");
  bool has_failed = true;
  for (std::uint64_t nth = 1; has_failed; ++nth) {
    moved_database moved{path, content, *lock_, options_, commits_};
    std::ofstream{path + ".new", std::ios::binary} << content;
    std::deque<written_batch> made;
    queued_write* const first = &*add(made, {next_id_++}).queued;
    queued_write* const second = &*add(made, {next_id_++}).queued;
    moved.by().write_here({&first, 1});
    database_swap with{path + ".new", path};
    {
      const testing::allocation_failures here{nth, testing::failing::once};
      try {
        static_cast<void>(moved.by().swap(with));
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
        // Whatever was done by then.
      }
      has_failed = here.has_failed();
    }
    moved.by().write_here({&second, 1});
    said_sink said;
    second->tell(*counts_, said);
    ASSERT_EQ(said.dones, 1U) << "allocation " << nth;
    if (!with.kept().empty()) std::filesystem::remove(with.kept());
  }
}

}  // namespace
}  // namespace weft::store::sqlite

// Who writes to one database: a thread of its own, for all shards.
//
// Problem: SQLite lets one write at a time, and each commit waits for the disk. Contract: what has
// come while the last commit was under way goes into the next one together (write_group.hpp). So
// many batches may wait; one more is errc::limit_exceeded. A batch comes back to its shard when its
// commit is durable, as options.synchronous has it. After that, and off every loop, pages are moved
// from the log into the database. Who reads keeps the log from being emptied, and is waited for for
// a moment alone; beyond a bound readers are called on to leave, which those heed that may read for
// long (query_run.hpp). Once nobody has written for a while the log is emptied. The connection is
// opened when it is first needed, and anew where the file was replaced or has failed. Before and
// after each commit it is seen whether the files are still those that have the names: what went
// into a file that has gone is no success. Where memory runs out, batches that are committed are
// told so all the same, and of others that nothing was done, or that nobody knows. end() writes
// what waits.
//
//   if (auto taken = writer.submit(batch); !taken) return taken;
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/result.hpp>
#include <weft/store/sqlite/engine_options.hpp>
#include <weft/store/sqlite/lock_wait.hpp>
#include <weft/store/sqlite/queued_write.hpp>
#include <weft/store/sqlite/served_file.hpp>
#include <weft/store/sqlite/write_group.hpp>

namespace weft::store::sqlite {

class database_swap;

class writer {
 public:
  /// `commits` is counted up when a commit is durable, before anybody is told of it.
  writer(served_file& file, const engine_options& options, std::atomic<std::uint64_t>& commits);
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  ~writer();

  // Any thread.

  [[nodiscard]] result<void> submit(queued_write& batch);
  /// True: it has not been begun, and will not be.
  [[nodiscard]] bool take_back(queued_write& batch) noexcept;
  /// Batches that have not been begun.
  [[nodiscard]] std::size_t waiting();
  /// Another number than when a transaction began: who reads in it is to end it, or the log grows
  /// without bound.
  [[nodiscard]] std::uint64_t calls_to_leave() const noexcept {
    return calls_to_leave_.load(std::memory_order_relaxed);
  }
  /// Has those leave who may read for long.
  void call_to_leave() noexcept { calls_to_leave_.fetch_add(1, std::memory_order_relaxed); }
  /// Writes on the caller's thread, at once: where there are no threads.
  void write_here(std::span<queued_write* const> batches);
  /// Closes files that have not their names any more, once what is in the log is in the database
  /// that it belongs to. A line for people where that has to wait for somebody.
  [[nodiscard]] std::expected<void, std::string> settle();
  /// Puts the log that a killed program has left into its database, where that can be done now.
  void empty_left_log();
  /// While no batch is being written, and none by another program either. A line for people where
  /// that cannot be had, or the files could not be exchanged.
  [[nodiscard]] std::expected<void, std::string> swap(database_swap& with);
  /// Writes what waits. `is_last`: leaves no log behind if nobody else has the database open.
  void end(bool is_last) noexcept;

 private:
  void work();
  [[nodiscard]] bool has_ended();
  [[nodiscard]] bool has_log();
  [[nodiscard]] std::span<queued_write* const> take_group();
  void write(std::span<queued_write* const> batches) noexcept;
  void write_held(std::span<queued_write* const> batches) noexcept;
  struct fault {
    failure_kind why;
    std::string message;
  };
  [[nodiscard]] result<void> start_thread();
  [[nodiscard]] std::expected<void, fault> make_ready();
  [[nodiscard]] std::expected<connection, fault> open();
  [[nodiscard]] std::expected<void, std::string> settle_held();
  [[nodiscard]] bool is_log_of_another(file_place place) noexcept;
  void forsake(file_place place);
  [[nodiscard]] std::expected<void, std::string> swap_held(database_swap& with);
  [[nodiscard]] std::expected<void, std::string> begin_swap();
  [[nodiscard]] bool is_commit_in_place(std::span<queued_write* const> batches);
  void empty_idle_log();
  void empty_whole_log() noexcept;
  void open_to_end();
  void write_group_or_each(std::span<queued_write* const> batches);
  void fail_batch(queued_write& batch, const write_group& of,
                  std::optional<std::size_t> culprit) const;
  void checkpoint() noexcept;
  void empty_log() noexcept;
  [[nodiscard]] int move_pages(int how) noexcept;
  void close() noexcept;

  served_file& file_;
  engine_options options_;
  std::atomic<std::uint64_t>& commits_;
  std::atomic<std::uint64_t> calls_to_leave_{0};

  std::mutex mutex_;
  std::condition_variable filled_;
  // All under mutex_.
  intrusive_list<queued_write, &queued_write::in_line_> line_;
  std::size_t waiting_ = 0;
  bool ends_ = false;
  std::thread thread_;
  std::vector<queued_write*> group_;  // has its room before the thread begins

  // Who writes, alone.
  std::mutex writing_;
  lock_wait patience_;
  std::optional<connection> connection_;
  std::optional<text_statements> statements_;
  int log_pages_ = 0;
  int emptied_from_ = 0;  // pages
  bool is_suspect_ = false;
  bool has_forsaken_ = false;  // in the last settle_held()
};

}  // namespace weft::store::sqlite

// Which file a database's name stands for, as this process serves it.
//
// Problem: once another file has the name, SQLite would put the log of the former one into it, for
// whoever opens it; and connections that are open would go on with the former one. Contract:
// open() opens the file that is there now, unless it cannot be told that the log beside it is its
// own, or connections of this process still use a log or an index that has lost its name: then it
// says why, and what to do. What is seen to have changed is told by note(). A file that comes in
// the place of another is taken over once the former one's log is empty: that is the writer's part
// (writer::settle), which is to be done first where must_settle(). The log then goes with its
// index, so that the two files have none in common. Any thread.
//
//   if (file.must_settle()) if (auto settled = writer.settle(); !settled) return refuse(...);
//   auto opened = file.open(access::read_only);
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/unique_function.hpp>
#include <weft/store/sqlite/folder_lock.hpp>
#include <weft/store/sqlite/handle.hpp>

namespace weft::store::sqlite {

class served_file {
 public:
  /// `changed` is called when those who have it open are to look at it; it may be so at any time.
  served_file(std::string path, folder_lock& folder, unique_function<void()> changed);
  served_file(const served_file&) = delete;
  served_file& operator=(const served_file&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Whether the file, or its log, is not that which was opened.
  [[nodiscard]] bool must_settle();
  [[nodiscard]] std::expected<connection, std::string> open(access how);
  /// Of a connection that open() has given, once it has read: which log it has.
  void note_log(const connection& of) noexcept;
  /// Of such a connection, once it has written or moved pages: what a killed program leaves behind.
  void note_trace(const connection& of) noexcept;
  /// What look() of such a connection has given.
  void note(const connection& of, file_place seen);

  /// Whether a killed program's log has just been found beside its file: once.
  [[nodiscard]] bool take_left_log();

  /// Whether the database is not served, though it should be.
  [[nodiscard]] bool is_refused() const noexcept {
    return is_refused_.load(std::memory_order_relaxed) || is_unreadable();
  }
  /// Of the last open().
  void set_refused(bool is) noexcept { is_refused_.store(is, std::memory_order_relaxed); }
  /// Whether its tables could not be read.
  [[nodiscard]] bool is_unreadable() const noexcept {
    return is_unreadable_.load(std::memory_order_relaxed);
  }
  void set_unreadable(bool is) noexcept { is_unreadable_.store(is, std::memory_order_relaxed); }
  /// The file that was opened last; nothing: none yet.
  [[nodiscard]] std::optional<file_identity> served();

 private:
  [[nodiscard]] std::string_view name() const noexcept;
  void end_all(file_place seen) noexcept;
  void wait_until_closed();
  [[nodiscard]] std::expected<void, std::string> admit();
  [[nodiscard]] std::expected<void, std::string> admit_first();
  [[nodiscard]] std::expected<void, std::string> admit_same(std::uint64_t bytes);
  [[nodiscard]] std::expected<void, std::string> take_over();
  [[nodiscard]] bool is_known_log(file_identity log) const noexcept;
  [[nodiscard]] std::string beside(std::string_view ending) const;
  void remove_log_and_index();
  [[nodiscard]] std::unexpected<std::string> refuse_journal() const;
  [[nodiscard]] std::unexpected<std::string> refuse(std::string why) const;

  std::string path_;
  folder_lock& folder_;
  unique_function<void()> changed_;
  std::atomic<bool> is_refused_{false};
  std::atomic<bool> is_unreadable_{false};

  std::mutex mutex_;
  // All under mutex_.
  std::optional<log_owner> expected_;         // whose the log is that a killed program has left
  std::optional<file_memory::state> traced_;  // as it was noted last
  std::optional<file_identity> served_;
  bool has_left_log_ = false;
  bool had_content_ = false;
  bool is_denied_ = false;               // in the last open()
  std::vector<file_identity> logs_;      // of the file that is served, and their indexes
  std::optional<file_identity> spoilt_;  // a log that belongs to what was overwritten
  bool must_reopen_ = false;             // once nobody has it open
  std::shared_ptr<file_memory> uses_ = std::make_shared<file_memory>();
};

}  // namespace weft::store::sqlite

// Who serves a folder of databases, and which files those are.
//
// Problem: two servers of one folder should know of each other; and a log that a killed server has
// left must not be put into a file that was moved there since. Contract: it makes FOLDER's
// `.weft.lock`, a regular file that its user alone may read, and locks it by flock(2) as long as
// this lives: that is what counts, so that one which a killed program has left is taken over. What
// is in it is for people, process and host, and for who comes next: note_owner() writes down which
// file each database is, and its log, owner_of() gives what a killed program has written. What
// note_trace() writes down, of the file's content, trace_of() gives until the machine starts anew.
// Who does not hold the lock goes on without: it is advice. A clean end removes the file. Any
// thread.
//
//   folder_lock lock{"/var/lib/shop"};
//   if (!lock.is_held()) log::info(lock.trouble());
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/sqlite/file_watch.hpp>

namespace weft::store::sqlite {

/// A file's inode, and when it was made, in nanoseconds since 1970; 0: nobody knows. (Devices have
/// other numbers after a restart of the machine.)
struct file_mark {
  std::uint64_t inode = 0;
  std::int64_t born = 0;
};
/// A log, and the database that it belongs to.
struct log_owner {
  file_mark database;
  file_mark log;
};

class folder_lock {
 public:
  /// Of no folder, and not held.
  folder_lock() = default;
  explicit folder_lock(const std::string& folder);
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock();

  [[nodiscard]] bool is_held() const noexcept { return descriptor_ >= 0; }
  /// Who holds it, or why nobody can, for people; empty: this program does, or does not want to.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

  /// As the program has left it that held the lock before.
  [[nodiscard]] std::optional<log_owner> owner_of(std::string_view database) const;
  /// The file stays there at the end.
  void keep() noexcept { is_kept_ = true; }
  /// Durable when it returns.
  void note_owner(std::string_view database, log_owner is);

  /// As owner_of(): how the file was when that program looked last.
  [[nodiscard]] std::optional<file_trace> trace_of(std::string_view database) const;
  /// Of a database whose owner is known. A killed program has written it, a power cut may lose it.
  void note_trace(std::string_view database, const file_trace& is);

 private:
  struct entry {
    std::string database;
    log_owner owner;
    std::optional<file_trace> trace{};
  };
  enum class must_last : bool { no, yes };
  void take();
  void read_notes(std::string_view text);
  void read_owner(std::string_view line);
  void read_trace(std::string_view line);
  void write(must_last how) const;

  std::string path_;
  std::string boot_;
  int descriptor_ = -1;
  std::string trouble_;
  bool is_kept_ = false;
  std::vector<entry> before_;
  std::mutex mutex_;
  std::vector<entry> now_;  // under mutex_
};

}  // namespace weft::store::sqlite

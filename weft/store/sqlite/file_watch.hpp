// Whether the files of a connection are still those that their names stand for.
//
// Problem: a database can be moved, removed or overwritten beneath a connection that has it open,
// and its log and the log's index with it; SQLite notices none of that, reads old rows for ever, or
// puts the log of one file into another. Contract: look() compares what is open with what the names
// stand for now: three calls of stat(2), or, as long as nothing in their folder has been given
// another name, one of the folder and fstat(2) of the file. A file overwritten in place is still
// the same file: it has been written to while nobody moved pages from the log into it, which the
// log's index tells. What is not seen: a file that is overwritten while pages are moved into it, or
// within the tick of the file system's clock (4 ms) in which it was written to last. Of the
// connection's thread.
//
//   file_watch watch{handle, "/data/shop.db"};
//   if (watch.look() != file_place::in_place) reopen();
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include <weft/store/sqlite/open_files.hpp>

struct stat;

namespace weft::store::sqlite {

enum class file_place : std::uint8_t {
  in_place,
  gone,          // no file has the name, or none that may be seen
  replaced,      // another file has it
  log_gone,      // the log, or its index, has been removed
  log_replaced,  // another file has the name of the log, or of its index
  overwritten,   // the same file, written to by somebody who does not keep to SQLite's rules
};
/// For people. Static storage.
[[nodiscard]] std::string_view to_string(file_place is) noexcept;

/// The state of a database's file, as connections of one process have seen it last.
struct file_memory {
  struct stamp {
    std::int64_t bytes;
    std::int64_t seconds;
    std::int64_t nanoseconds;
    friend bool operator==(const stamp&, const stamp&) noexcept = default;
  };
  /// How far pages have been moved from the log into the database (sqlite.org/walformat.html).
  struct log_progress {
    std::uint32_t salts[2];
    std::uint32_t begun;
    std::uint32_t done;
    friend bool operator==(const log_progress&, const log_progress&) noexcept = default;
  };
  struct state {
    stamp seen;
    log_progress progress;
    friend bool operator==(const state&, const state&) noexcept = default;
  };

  /// What one of them has found, whereupon all are to be closed.
  std::atomic<file_place> ended_by{file_place::in_place};
  std::mutex mutex;
  std::optional<state> last;  // under mutex
};

/// What is left of a state when all processes have ended that had the file open.
struct file_trace {
  file_memory::state last;
  std::uint32_t commits =
      0;  // that the index had counted by then; it counts anew once it is rebuilt
};
/// Whether the database was written to since, though no page was moved into it. False where that
/// cannot be known: somebody has moved pages or rebuilt the index, or there is none, or this
/// process has opened it.
[[nodiscard]] bool was_overwritten_since(const file_trace& then, const std::string& database,
                                         const std::string& index) noexcept;

class file_watch {
 public:
  file_watch() = default;
  file_watch(sqlite3* opened, const std::string& path);

  [[nodiscard]] file_place look() noexcept;
  [[nodiscard]] file_identity database() const noexcept { return database_; }
  /// Nothing: it has none open.
  [[nodiscard]] std::optional<file_identity> log() const noexcept;
  [[nodiscard]] std::optional<file_identity> index() const noexcept;
  /// Whether it was overwritten, wherever it is by now.
  [[nodiscard]] bool is_overwritten() noexcept;
  /// Whether the log has pages that are not in the database yet.
  [[nodiscard]] bool has_pages_in_log() const noexcept;

  /// From now on all that share it remember one state of the file; it outlives this.
  void remember_in(file_memory* shared) noexcept { memory_ = shared; }
  /// Who has just written, or moved pages, makes it known.
  void remember() noexcept;
  /// What was seen of the file last; nothing: nobody has looked yet, or it has no log.
  [[nodiscard]] std::optional<file_trace> trace() const noexcept;

 private:
  [[nodiscard]] std::optional<file_memory::log_progress> read_progress() const noexcept;
  [[nodiscard]] bool is_overwritten(const struct stat& now) noexcept;
  /// Whether no name in the folder has changed since all were looked at.
  [[nodiscard]] bool is_folder_as_it_was(const struct stat& folder) const noexcept;
  void remember_folder(const struct stat& folder) noexcept;
  [[nodiscard]] file_place look_at_all() noexcept;

  sqlite3* opened_ = nullptr;
  std::string path_;
  std::string log_path_;
  std::string index_path_;
  std::string folder_path_;  // empty: the database is a link, and its name is in another
  file_identity database_;
  int descriptor_ = -1;
  bool knows_files_ = false;
  file_identity log_;                   // that index_ was asked for
  std::optional<file_identity> index_;  // of that log
  struct folder_state {
    file_identity identity;
    std::int64_t seconds;
    std::int64_t nanoseconds;
    friend bool operator==(const folder_state&, const folder_state&) noexcept = default;
  };
  std::optional<folder_state> folder_;  // in which all names were as they should be
  file_memory* memory_ = nullptr;
  std::optional<file_memory::stamp> stamp_;  // that was looked at last, and found good
};

}  // namespace weft::store::sqlite

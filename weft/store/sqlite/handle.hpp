// SQLite's objects, which end with their owner, and why one was not to be had.
//
// Contract: a connection is of one thread at a time, and its statements end before it. Errors of
// SQLite are its result codes, extended; describe() makes a line for people of one.
//
//   auto opened = connection::open("/data/shop.db", access::read_only);
//   if (!opened) log::error(opened.error());
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

#include <weft/store/failure.hpp>
#include <weft/store/sqlite/file_watch.hpp>

namespace weft::store::sqlite {

struct statement_end {
  void operator()(sqlite3_stmt* ended) const noexcept { sqlite3_finalize(ended); }
};
using statement = std::unique_ptr<sqlite3_stmt, statement_end>;

/// Makes a statement ready to be run again, however this run ends.
class [[nodiscard]] running_statement {
 public:
  explicit running_statement(sqlite3_stmt* run) noexcept : run_{run} {}
  running_statement(const running_statement&) = delete;
  running_statement& operator=(const running_statement&) = delete;
  ~running_statement() { sqlite3_reset(run_); }

 private:
  sqlite3_stmt* run_;
};

/// Nothing: there is no such file, or it is not to be seen.
[[nodiscard]] std::expected<file_identity, int> identify(const std::string& path) noexcept;

enum class access : std::uint8_t { read_only, read_write, create };

class connection {
 public:
  /// In the words of describe(), where it cannot be had.
  [[nodiscard]] static std::expected<connection, std::string> open(const std::string& path,
                                                                   access how);

  [[nodiscard]] sqlite3* get() const noexcept { return handle_.get(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] file_identity identity() const noexcept { return files_.database(); }
  /// Whether its files are still those that have their names.
  [[nodiscard]] file_place look() noexcept { return files_.look(); }
  /// Nothing: it has none open, or none that is known.
  [[nodiscard]] std::optional<file_identity> log() const noexcept { return files_.log(); }
  [[nodiscard]] std::optional<file_identity> index() const noexcept { return files_.index(); }
  [[nodiscard]] bool is_overwritten() noexcept { return files_.is_overwritten(); }
  [[nodiscard]] bool has_pages_in_log() const noexcept { return files_.has_pages_in_log(); }
  /// Its end neither moves what is in the log nor removes it.
  void close_without_log() noexcept {
    sqlite3_db_config(get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  [[nodiscard]] bool in_transaction() const noexcept { return sqlite3_get_autocommit(get()) == 0; }
  /// Where there is no memory for that the transaction stays, and ends with the connection.
  void roll_back() noexcept {
    if (in_transaction()) static_cast<void>(run("ROLLBACK"));
  }
  /// It is not as its next user has to find it: whoever lends it closes it instead.
  void spoil() noexcept { is_spoilt_ = true; }
  /// Whether its next user finds it as it was opened.
  [[nodiscard]] bool is_reusable() const noexcept { return !is_spoilt_ && !in_transaction(); }
  /// Keeps `use` until it is closed.
  void count_as(std::shared_ptr<file_memory> use) noexcept {
    files_.remember_in(use.get());
    use_ = std::move(use);
  }
  /// Its caller has just written, or moved pages.
  void remember() noexcept { files_.remember(); }
  [[nodiscard]] std::optional<file_trace> trace() const noexcept { return files_.trace(); }

  /// A result code of SQLite's. Answers are dropped.
  [[nodiscard]] int run(const char* sql) noexcept;
  /// The only value of an answer of one row, which is a number: PRAGMA schema_version.
  [[nodiscard]] std::expected<std::int64_t, int> number(const char* sql) noexcept;
  /// Empty: what went wrong is the connection's last error.
  [[nodiscard]] statement prepare(std::string_view sql) noexcept;

  /// What the last call that failed failed of, for people, with the file's name and no folder;
  /// allocates.
  [[nodiscard]] std::string describe(int code) const;

 private:
  struct handle_end {
    void operator()(sqlite3* ended) const noexcept { sqlite3_close_v2(ended); }
  };
  connection(sqlite3* handle, std::string path) noexcept
      : handle_{handle}, path_{std::move(path)} {}

  std::shared_ptr<file_memory> use_;  // ends after the handle
  std::unique_ptr<sqlite3, handle_end> handle_;
  std::string path_;
  file_watch files_;
  bool is_spoilt_ = false;
};

/// What a result code of a statement that ran means.
[[nodiscard]] failure_kind kind_of(int code) noexcept;
/// Of one that could not be prepared, though its tables and columns are those of the schema.
[[nodiscard]] failure_kind kind_of_refused(int code) noexcept;

}  // namespace weft::store::sqlite

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
#include <string>
#include <string_view>

#include <sqlite3.h>

#include <weft/store/failure.hpp>

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

/// Which file it is, whatever its name.
struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(file_identity, file_identity) noexcept = default;
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
  [[nodiscard]] file_identity identity() const noexcept { return identity_; }

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

  std::unique_ptr<sqlite3, handle_end> handle_;
  std::string path_;
  file_identity identity_;
};

/// What a result code of a statement that ran means.
[[nodiscard]] failure_kind kind_of(int code) noexcept;
/// Of one that could not be prepared, though its tables and columns are those of the schema.
[[nodiscard]] failure_kind kind_of_refused(int code) noexcept;

}  // namespace weft::store::sqlite

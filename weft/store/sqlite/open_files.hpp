// Which files SQLite has open, whatever their names mean by now.
//
// Problem: SQLite opens a database, its log (-wal) and the log's index (-shm) by their names, keeps
// them open, and nobody can ask which files they are. Contract: connections that open by
// open_files_vfs() have, for the database and the log, the identity that fstat(2) gave of the
// descriptor when it was opened; so has the index, which all connections of the process to one file
// share. Otherwise these files are those of the VFS "unix". Where a program has made another VFS
// SQLite's default, that one is used, and nothing is known of its files. Any thread.
//
//   sqlite3_open_v2(path, &handle, flags, open_files_vfs());
//   if (sqlite3_file* const log = open_log(handle)) use(identity_of(log));
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sqlite3.h>

struct stat;

namespace weft::store::sqlite {

/// Which file it is, whatever its name. One of zeros is no file at all.
struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(file_identity, file_identity) noexcept = default;
};
[[nodiscard]] file_identity identity_in(const struct stat& found) noexcept;

/// Registers the VFS. Once, before the first connection.
void install_open_files() noexcept;
/// What sqlite3_open_v2() is to be given; nullptr: the program has a default of its own.
[[nodiscard]] const char* open_files_vfs() noexcept;

/// Whether the connection was opened by it.
[[nodiscard]] bool has_known_files(sqlite3* of) noexcept;
[[nodiscard]] sqlite3_file* open_database(sqlite3* of) noexcept;
/// nullptr: it has none open.
[[nodiscard]] sqlite3_file* open_log(sqlite3* of) noexcept;
/// Of a file that such a connection has open.
[[nodiscard]] file_identity identity_of(sqlite3_file* file) noexcept;
/// -1: another connection that has ended had it open before, and it is not known.
[[nodiscard]] int descriptor_of(sqlite3_file* file) noexcept;
/// Of the index that was opened last by this name.
[[nodiscard]] std::optional<file_identity> identity_of_index(const std::string& path) noexcept;

}  // namespace weft::store::sqlite

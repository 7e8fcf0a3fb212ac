// A disk whose power goes at a chosen moment.
//
// Problem: what a database promises of a power cut can only be seen by cutting the power. Contract:
// while an object of this lives, SQLite's files are the system's, but what was written and not yet
// synced is known; from the call cut_at() names on, every write and sync fails. restore() then
// makes the files what a disk may have: all that was synced, and of the later writes, as a seed
// draws them, each whole, none, or the first sectors of it. A program that begins now finds them.
// Names of files are as durable as SQLite takes them to be: those that were made are there.
//
//   crash_disk disk;
//   disk.cut_at(17);
//   ...
//   disk.restore(random);
#pragma once

#include <cstdint>
#include <memory>

#include <sqlite3.h>

#include <weft/base/random.hpp>

namespace weft::store::sqlite {

struct crash_disk_state;

class crash_disk {
 public:
  crash_disk();
  crash_disk(const crash_disk&) = delete;
  crash_disk& operator=(const crash_disk&) = delete;
  ~crash_disk();

  /// `call`: that write, sync or truncation from now on, from 1; 0: none. `code`: what SQLite is
  /// told.
  void cut_at(std::uint64_t call, int code = SQLITE_IOERR);
  /// Such calls since then.
  [[nodiscard]] std::uint64_t calls() const;
  /// Once nobody has a file open.
  void restore(random& draw);

 private:
  std::unique_ptr<crash_disk_state> state_;
};

}  // namespace weft::store::sqlite

// Another file in the place of a database that is served.
//
// Problem: to move a file over one that is open leaves what was written last behind, or puts it
// into the wrong file. Contract: swap() sees whether the new file is a sound database, lets what is
// being written end, keeps the next writes waiting, and exchanges the files by one rename(2); the
// former one is kept beside it. Reads go on, each of one of the two files; what is written after
// that is in the new one. Nothing has changed where it fails. The new file is to be on the same
// file system, and no other program may have it open. One call for all shards.
//
//   auto swapped = co_await files.swap({.database = "shop", .file = "/var/lib/shop/new"});
//   if (!swapped) return complain(swapped.error());
#pragma once

#include <expected>
#include <string>
#include <vector>

#include <weft/coro/borrowing_task.hpp>

namespace weft::store {

struct swap_request {
  std::string database;
  std::string file;  // an absolute path
  /// It fails where tables, columns, keys or indexes are others.
  bool keeps_schema = false;
};

struct file_swap {
  std::string kept;                      // where the former file is
  std::vector<std::string> differences;  // of the schemas, a line each, for people
};

class file_swapper {
 public:
  file_swapper() = default;
  file_swapper(const file_swapper&) = delete;
  file_swapper& operator=(const file_swapper&) = delete;
  virtual ~file_swapper() = default;

  /// Where the files are; empty: there are none.
  [[nodiscard]] virtual std::string folder() const = 0;
  /// Else why not, for people.
  [[nodiscard]] virtual borrowing_task<std::expected<file_swap, std::string>> swap(
      const swap_request& request WEFT_LIFETIME_BOUND) = 0;
};

}  // namespace weft::store

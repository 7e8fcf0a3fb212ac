// A file that is to take the place of a database that is served.
//
// Contract: prepare() says whether it can: it is a regular file of this file system, nobody has it
// open, it is sound as PRAGMA integrity_check has it, and has tables that can be served; and all of
// it is on the disk. Nothing but that has been done to it. A stop ends it within a moment.
// writer::swap() does the rest. For a thread that may wait for the disk.
//
//   database_swap swap{"/data/new", "/data/shop.db"};
//   if (auto ready = swap.prepare("shop"); !ready) return refuse(ready.error());
//   writer.swap(swap);
#pragma once

#include <atomic>
#include <expected>
#include <string>
#include <vector>

#include <weft/store/sqlite/schema_reader.hpp>

namespace weft::store::sqlite {

class database_swap {
 public:
  /// `in_place_of`: the file that is served.
  database_swap(std::string file, const std::string& in_place_of);
  database_swap(const database_swap&) = delete;
  database_swap& operator=(const database_swap&) = delete;

  [[nodiscard]] std::expected<database_schema, std::string> prepare(const std::string& database);
  /// Any thread.
  void stop() noexcept { is_stopped_.store(true, std::memory_order_relaxed); }

  /// Gives the file its new name, and the former one, which has to be there, another: kept().
  /// While nobody writes to either.
  [[nodiscard]] std::expected<void, std::string> rename();
  [[nodiscard]] const std::string& kept() const noexcept { return kept_; }

 private:
  [[nodiscard]] std::expected<void, std::string> check_file() const;
  [[nodiscard]] std::expected<void, std::string> check_content(connection& of);
  [[nodiscard]] std::expected<void, std::string> sync() const;
  static int ask_whether_to_end(void* self);
  [[nodiscard]] std::unexpected<std::string> refuse(const std::string& why) const;
  [[nodiscard]] std::unexpected<std::string> refuse_errno(const std::string& what) const;

  std::string file_;
  std::string target_;  // where links lead
  std::string kept_;
  std::atomic<bool> is_stopped_{false};
};

}  // namespace weft::store::sqlite

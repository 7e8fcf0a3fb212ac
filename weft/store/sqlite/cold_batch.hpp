// Reads that wait for the disk, made on a thread that may.
//
// Contract: run() makes the operations, which are all of one database, one after the other, in one
// transaction, and keeps copies of what it finds; it stops early where there is too much to copy.
// tell() gives them to a sink, on the shard. What it reads is in the system's memory from then on.
//
//   cold_batch batch{storage, "shop", version, operations};
//   co_await blocking([&] { batch.run(); });
//   for (std::size_t told = 0; told < batch.size();) told = batch.tell(done, told, sink, counts);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/engine.hpp>
#include <weft/store/scratch.hpp>
#include <weft/store/sqlite/engine_counts.hpp>
#include <weft/store/sqlite/storage.hpp>

namespace weft::store::sqlite {

class cold_batch {
 public:
  /// No further operation is made once so much was copied.
  static constexpr std::size_t copied_bytes_max = std::size_t{1024} * 1024;

  /// `version`: of the schema that the operations are of; `file`: that they are to be of; none: of
  /// any.
  cold_batch(storage& from, std::string_view database, std::int64_t version,
             std::optional<file_identity> file, std::span<const key_read> operations) noexcept
      : from_{from}, database_{database}, version_{version}, file_{file}, operations_{operations} {}

  /// Any thread.
  void run();

  /// How many operations were done; their numbers count from `first`. What was found is counted.
  std::size_t tell(std::size_t first, std::size_t from, read_sink& to, engine_counts& counts) const;
  [[nodiscard]] std::size_t size() const noexcept { return found_.size(); }
  [[nodiscard]] std::size_t copied_bytes() const noexcept { return copied_bytes_; }
  /// Whether it ended because the schema is of another version, or the file another.
  [[nodiscard]] bool is_stale() const noexcept { return is_stale_; }

 private:
  struct found {
    enum class outcome : std::uint8_t { row, missing, failed } is;
    failure_kind why = failure_kind::other;
    std::span<const value> values{};
    std::string_view message{};
  };

  void read_all(connection& by);
  [[nodiscard]] bool read_one(connection& by, sqlite3_stmt* select, const key_read& operation);
  void keep_row(sqlite3_stmt* row, const key_read& operation);
  void keep_failure(failure_kind why, std::string_view message);
  void fail_all(failure_kind why, std::string_view message);

  storage& from_;
  std::string_view database_;
  std::int64_t version_;
  std::optional<file_identity> file_;
  std::span<const key_read> operations_;
  scratch room_;
  std::vector<found> found_;
  std::size_t copied_bytes_ = 0;
  bool is_stale_ = false;
};

}  // namespace weft::store::sqlite

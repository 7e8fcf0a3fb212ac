// Reads that wait for the disk or have long rows, made on a thread that may wait.
//
// Contract: run() makes the operations, which are all of one database, one after the other, in one
// transaction, and keeps copies of what it finds, of `bytes_max` at most. It ends before a row that
// would be more; SQLite is refused the memory for one that is far longer. Where it is the first,
// wanted_bytes() says how much it has, or more than before: reserve memory_for() that much, and
// begin anew. tell() gives the rows to a sink, on the shard, with what is reserved for that which
// it makes of them. What was read is in the system's memory from then on.
//
//   cold_batch batch{storage, "shop", version, file, operations, bytes_max};
//   co_await blocking([&] { batch.run(); });
//   for (std::size_t told = 0; told < batch.size();)
//     told = batch.tell(done, told, sink, counts, memory);
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
  /// Of rows of no known size.
  static constexpr std::size_t bytes_max_at_first = std::size_t{448} * 1024;
  /// For what is made of the rows, beside the rows; SQLite has its copy before that is made.
  [[nodiscard]] static constexpr std::size_t memory_for(std::size_t bytes,
                                                        std::size_t columns) noexcept {
    return bytes + told_bytes(bytes, columns);
  }

  /// `version`: of the schema that the operations are of; `file`: that they are to be of; none: of
  /// any.
  cold_batch(storage& from, std::string_view database, std::int64_t version,
             std::optional<file_identity> file, std::span<const key_read> operations,
             std::size_t bytes_max) noexcept
      : from_{from},
        database_{database},
        version_{version},
        file_{file},
        operations_{operations},
        bytes_max_{bytes_max} {}

  /// Any thread.
  void run();

  /// How many operations were done; their numbers count from `first`. What was found is counted.
  std::size_t tell(std::size_t first, std::size_t from, read_sink& to, engine_counts& counts,
                   memory_reservation& memory) const;
  [[nodiscard]] std::size_t size() const noexcept { return found_.size(); }
  /// 0: there is a row, or none is to be had.
  [[nodiscard]] std::size_t wanted_bytes() const noexcept { return wanted_bytes_; }
  /// Whether it ended because the schema is of another version, or the file another.
  [[nodiscard]] bool is_stale() const noexcept { return is_stale_; }

 private:
  struct found {
    enum class outcome : std::uint8_t { row, missing, failed } is;
    failure_kind why = failure_kind::other;
    std::span<const value> values{};
    std::size_t bytes = 0;
    std::string_view message{};
  };

  void read_all(connection& by);
  [[nodiscard]] bool read_one(connection& by, sqlite3_stmt* select, const key_read& operation);
  [[nodiscard]] bool keep_row(sqlite3_stmt* row, const key_read& operation);
  [[nodiscard]] std::size_t measure(connection& by, const key_read& operation) const;
  [[nodiscard]] bool leave(std::size_t row_bytes) noexcept;
  void keep_failure(failure_kind why, std::string_view message);
  void fail_all(failure_kind why, std::string_view message);

  storage& from_;
  std::string_view database_;
  std::int64_t version_;
  std::optional<file_identity> file_;
  std::span<const key_read> operations_;
  std::size_t bytes_max_;
  scratch room_;
  std::vector<found> found_;
  std::size_t copied_bytes_ = 0;
  std::size_t wanted_bytes_ = 0;
  bool is_stale_ = false;
};

}  // namespace weft::store::sqlite

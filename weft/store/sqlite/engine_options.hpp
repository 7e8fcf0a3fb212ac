// What a program chooses for its SQLite databases.
//
//   app.add<store::sqlite::engine>({.directory = "/var/lib/shop"});
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/bounds.hpp>
#include <weft/base/time.hpp>
#include <weft/service/option_fault.hpp>
#include <weft/store/sqlite/nowait_reads.hpp>

namespace weft::store::sqlite {

enum class durability : std::uint8_t { full, normal, off };

/// No query, and not all page caches together, are given more than an eighth of the memory budget.
[[nodiscard]] constexpr std::uint64_t within_budget(std::uint64_t bytes,
                                                    std::uint64_t limit_bytes) noexcept {
  return std::min(bytes, limit_bytes / 8);
}

struct engine_options {
  /// The folder of the databases: each file NAME.db in it is the database NAME. Empty: there are
  /// none.
  std::string directory = "data";
  /// Databases that are made, empty, where there is no such file; and the folder with them.
  std::vector<std::string> create{};
  /// Memory for pages, over all shards and databases. What does not fit comes from the system's
  /// own cache, which costs half a microsecond a page.
  std::uint64_t page_cache_bytes = std::uint64_t{256} * 1024 * 1024;
  /// Prepared statements that each shard keeps a database.
  unsigned statements_max = 256;
  /// How often it is looked whether files have come, gone or changed their schema. A change of a
  /// schema is noticed by who reads, too.
  duration schema_refresh = std::chrono::seconds{10};
  /// Where the file system cannot say whether a page is in memory.
  sqlite::blind_reads blind_reads = sqlite::blind_reads::wait;

  /// What a write waits for. `full`: until it is on the disk. `normal`: until the system has it: a
  /// power cut may lose the last commits, but breaks nothing. `off`: a power cut may break all.
  sqlite::durability synchronous = durability::full;
  /// Batches of writes that may wait for the writer of one database.
  unsigned writes_waiting_max = 1024;
  /// How long a write waits for another program that writes to the database; in one that has no
  /// write-ahead log, a read does, too, on another thread.
  duration busy_timeout = std::chrono::seconds{5};
  /// Pages in the write-ahead log from which on they are moved into the database.
  unsigned checkpoint_pages = 1000;
  /// How long nobody writes before all of the log is moved, and it is emptied. What is moved over
  /// the database from then on cannot be mixed with it.
  duration checkpoint_idle = std::chrono::milliseconds{500};

  /// Slices of scans that each shard makes at a time, on the threads that may wait for the disk:
  /// what is left of four is for look-ups.
  unsigned scans_max = 1;
  /// And scans that may be under way beside those, in turns.
  unsigned scans_waiting_max = 256;
  /// How long a slice may take before the next scan has its turn.
  duration scan_turn = std::chrono::milliseconds{10};
  /// Queries in SQL that each shard makes at a time.
  unsigned queries_max = 2;
  /// And those that may wait for that.
  unsigned queries_waiting_max = 32;
  /// How long one waits for that at most.
  duration query_wait = std::chrono::seconds{5};
  /// How long one may take.
  duration query_time = std::chrono::seconds{10};
  /// How much memory one may take, for what it sorts, groups and keeps on its way.
  std::uint64_t query_memory_bytes = std::uint64_t{128} * 1024 * 1024;

  /// A program whose main() hands over to serve_queries() (query_child.hpp): queries run in
  /// processes of it, which end at any moment. "/proc/self/exe" is this program. Empty: they run in
  /// this process, where a call of a function that takes minutes is waited for.
  std::string query_program{};

  static constexpr auto bounds() {
    return weft::bounds(
        weft::at_least<&engine_options::page_cache_bytes>(std::uint64_t{1024} * 1024),
        weft::within<&engine_options::statements_max>(1U, 1'000'000U),
        weft::within<&engine_options::writes_waiting_max>(1U, 1'000'000U),
        weft::within<&engine_options::busy_timeout>(std::chrono::milliseconds{0},
                                                    std::chrono::hours{1}),
        weft::within<&engine_options::checkpoint_pages>(1U, 1'000'000U),
        weft::within<&engine_options::checkpoint_idle>(std::chrono::milliseconds{1},
                                                       std::chrono::hours{24}),
        weft::within<&engine_options::scans_max>(1U, 1'000U),
        weft::within<&engine_options::scan_turn>(std::chrono::microseconds{1},
                                                 std::chrono::minutes{1}),
        weft::within<&engine_options::queries_max>(1U, 1'000U),
        weft::within<&engine_options::query_wait>(std::chrono::milliseconds{1},
                                                  std::chrono::hours{1}),
        weft::within<&engine_options::query_time>(std::chrono::milliseconds{1},
                                                  std::chrono::hours{1}),
        weft::within<&engine_options::query_memory_bytes>(std::uint64_t{4} * 1024 * 1024,
                                                          std::uint64_t{1} << 40U),
        weft::at_least<&engine_options::schema_refresh>(std::chrono::milliseconds{10}));
  }
  /// Looks for the folder, and for the program.
  [[nodiscard]] std::vector<option_fault> faults() const;
};

}  // namespace weft::store::sqlite

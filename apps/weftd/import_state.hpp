// How far an import has come, in a file beside what is imported, so that the same command goes on
// from there.
//
// Contract: written anew as a whole, durably, after each batch that is, and removed at the end. It
// belongs to one content of the file, known by its size and time, and to one import of it. Where
// rows that are there are refused, it is also written before a batch is: nobody could else tell
// rows of the batch at which the import was killed from those that others have put there. Neither
// links nor FIFOs are followed (own_file.hpp).
//
//   const auto before = read_import_state("orders.csv.import");   // nothing: there is none
//   save_import_state("orders.csv.import", state);
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace weftd {

struct import_state {
  std::string table;  // "shop.orders"
  std::string how;    // where to, and by which options
  std::uint64_t file_bytes;
  std::int64_t file_changed_ns;
  std::uint64_t offset_bytes;
  std::uint64_t line;
  std::uint64_t rows;         // imported so far
  std::uint64_t wrong;        // left out so far
  std::uint64_t passed_over;  // by a trigger, so far
  // Of the batch after that, where rows that are there are refused; else nothing.
  /// No row up to this line, but for those refused, had a key that was there: those that have one
  /// now were written by this import.
  std::optional<std::uint64_t> attempted_line{};
  std::optional<std::vector<std::uint64_t>> refused_lines{};
};

/// Nothing: there is no such file. Else what is wrong with it.
[[nodiscard]] std::expected<std::optional<import_state>, std::string> read_import_state(
    const std::string& path);
/// Else why it could not be.
[[nodiscard]] std::expected<void, std::string> save_import_state(const std::string& path,
                                                                 const import_state& state);

}  // namespace weftd

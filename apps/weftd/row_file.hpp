// The rows of a file that people have: CSV whose first record names the columns, or a JSON object a
// line.
//
// Problem: files are larger than memory, have wrong rows in their middle, and an import that was
// interrupted is to go on where it was. Contract: reads forward, blocking, in pieces; a record has
// at most `record_bytes_max`. An empty field of CSV without quotes is NULL; a column that a JSON
// object does not have is not written. What is wrong with one record is told, and the next one is
// read all the same; errors of the file end it. Cells are views of the file's buffer or of `room`,
// until the next call.
//
//   auto file = row_file::open({.path = "orders.csv", .format = row_format::csv});
//   while (file->next(room) != row_outcome::end) use(file->cells());
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/json/lent.hpp>
#include <weft/store/convert.hpp>
#include <weft/store/scratch.hpp>

#include <apps/weftd/csv.hpp>

namespace weftd {

enum class row_format : std::uint8_t { csv, jsonl };

/// Where a record begins.
struct row_place {
  std::uint64_t offset_bytes = 0;
  std::uint64_t line = 1;

  friend bool operator==(const row_place&, const row_place&) = default;
};

struct row_source {
  std::string path;  // "-": standard input
  row_format format = row_format::csv;
  char separator = ',';  // of CSV
  row_place from{};      // that a file of the same content told; the first row
};

struct row_cell {
  std::string_view column;
  weft::store::json_scalar value;
  bool is_bare = false;  // a field of CSV without quotes: it may be a number
};

enum class row_outcome : std::uint8_t {
  row,
  wrong,   // this record: fault() says why
  failed,  // the file: fault() says why
  end,
};

class row_file {
 public:
  static constexpr std::size_t record_bytes_max = 16 * 1024 * 1024;

  /// Else what is wrong with the file, or with the names in its first record.
  [[nodiscard]] static std::expected<row_file, std::string> open(row_source from);

  [[nodiscard]] row_outcome next(weft::store::scratch& room);

  /// Of the last record that was read.
  [[nodiscard]] std::span<const row_cell> cells() const noexcept { return cells_; }
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  [[nodiscard]] std::uint64_t line() const noexcept { return line_; }
  /// Behind it.
  [[nodiscard]] const row_place& place() const noexcept { return place_; }

  /// Names of the columns, of CSV.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] bool is_regular() const noexcept { return is_regular_; }
  /// 0 where it is no regular file.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// When it was changed last, in nanoseconds since 1970.
  [[nodiscard]] std::int64_t changed_ns() const noexcept { return changed_ns_; }

 private:
  struct closer {
    void operator()(std::FILE* file) const noexcept {
      // It was read from: nothing can be lost.
      if (file != stdin) static_cast<void>(std::fclose(file));
    }
  };

  explicit row_file(row_source from) noexcept;

  // Each says whether it was done; else fault() says why not.
  [[nodiscard]] bool open();
  [[nodiscard]] bool read_names();
  [[nodiscard]] bool go_to(const row_place& where);
  [[nodiscard]] bool read_more();

  [[nodiscard]] csv_extent find_next() const noexcept;
  /// The next record, behind which place() stands then; of size 0 at the end.
  [[nodiscard]] row_outcome take_record(std::string_view& record);
  [[nodiscard]] row_outcome refuse(std::string why);
  [[nodiscard]] row_outcome take_fields(std::string_view record, weft::store::scratch& room);
  [[nodiscard]] row_outcome take_object(std::string_view record);
  [[nodiscard]] std::string_view rest() const noexcept {
    return std::string_view{buffer_}.substr(at_);
  }

  row_source from_;
  std::unique_ptr<std::FILE, closer> file_;
  bool is_regular_ = false;
  std::uint64_t size_bytes_ = 0;
  std::int64_t changed_ns_ = 0;
  std::vector<std::string> names_;

  std::string buffer_;
  std::size_t at_ = 0;   // of the next record, in the buffer
  bool is_all_ = false;  // the buffer reaches to the end of the file
  row_place place_;
  std::uint64_t line_ = 1;

  std::vector<csv_field> fields_;
  std::vector<std::pair<std::string, weft::json::lent_scalar>> members_;
  std::string document_;
  std::vector<row_cell> cells_;
  std::string fault_;
};

}  // namespace weftd

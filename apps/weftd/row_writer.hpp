// Rows as text for a file: CSV (RFC 4180, with LF) or a JSON object a line, as `weftd import` reads
// them.
//
// Contract: NULL is an empty field of CSV, and an empty text is "". Appends to a text that the
// caller keeps. One thread.
//
//   row_writer writer{row_format::csv, *table, columns};
//   writer.begin(out);
//   writer.append(values, out);
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

#include <apps/weftd/row_file.hpp>

namespace weftd {

class row_writer {
 public:
  /// `from` and `columns` are kept by the caller.
  row_writer(row_format format, const weft::store::table& from,
             std::span<const weft::store::column_position> columns) noexcept
      : format_{format}, from_{from}, columns_{columns} {}

  /// What stands before the rows.
  void begin(std::string& out) const;
  void append(std::span<const weft::store::value> values, std::string& out);

 private:
  /// A value that append_json() has written, as a field of CSV.
  void append_field(std::string_view json, const weft::store::column& of, std::string& out);

  row_format format_;
  const weft::store::table& from_;
  std::span<const weft::store::column_position> columns_;
  std::string json_;
  std::string decoded_;
};

}  // namespace weftd

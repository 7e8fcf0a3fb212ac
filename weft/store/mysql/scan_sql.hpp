// The statement that a part of a scan is, as MySQL's servers take it.
//
// Contract: all values are parameters. A row has the columns wanted, then those of the order. Goes
// along the index that the request names, so that each part begins where the last one ended. The
// place of an ENUM or a SET in the order is the number that it is kept as.
//
//   scan_sql sql{request, place, rows_max};  // place: of the row to go on after; may be empty
//   auto select = co_await server.prepared(sql.text());
//   co_await server.execute(**select, sql.parameters());
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <weft/store/scan_text.hpp>

namespace weft::store::mysql {

class scan_sql final : public scan_text {
 public:
  scan_sql(const scan_request& request, std::span<const value> place, std::size_t rows_max);

  [[nodiscard]] std::span<const value> parameters() const noexcept { return parameters_; }

 private:
  void add_columns();
  void add_name(column_position of) override;
  void add_parameter(const value& with, column_position of) override;
  void add_rank(column_position of) override;
  void add_bound(const key_bound& bound, bool is_lower) override;

  std::vector<value> parameters_;
};

}  // namespace weft::store::mysql

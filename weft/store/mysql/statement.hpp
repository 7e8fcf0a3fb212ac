// A statement that the server has prepared on one connection, and what its last run gave.
//
// Contract: made and run by its connection, which it may outlive: it is of no use then. Is not
// dropped while its connection is at work: the server is told, which costs no reply. A run's rows
// lie in memory, all of them, until the last is taken or the statement runs again.
//
//   auto find = co_await server.prepare("SELECT name FROM orders WHERE id = ?");
//   if (co_await server.execute(*find, {{value::integer(17)}}))
//     while (find->next()) use(find->row()[0]);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

struct st_mysql_stmt;

namespace weft::store::mysql {

class statement {
 public:
  statement(statement&&) noexcept;
  statement& operator=(statement&&) noexcept;
  ~statement();

  [[nodiscard]] std::string_view text() const noexcept;
  /// Question marks in its text.
  [[nodiscard]] std::size_t parameters() const noexcept;
  /// Rows that the last run has found, changed or removed.
  [[nodiscard]] std::uint64_t rows() const noexcept;
  /// What the rows of a run have: no two names alike, and types as the server tells them. Empty: it
  /// gives no rows.
  [[nodiscard]] std::vector<column> columns() const;
  [[nodiscard]] std::size_t row_columns() const noexcept;
  /// Of those, one of type BIT that the server computes, and whose values nobody can read for sure
  /// (result_columns.hpp); empty: there is none.
  [[nodiscard]] std::string computed_bits() const;
  /// Goes on to the next row of the last run; false: there is none.
  [[nodiscard]] bool next();
  /// The values are good until next() is called.
  [[nodiscard]] std::span<const value> row() const noexcept { return row_; }

 private:
  friend class connection;
  struct parts;
  statement(st_mysql_stmt* prepared, std::string_view text);

  [[nodiscard]] st_mysql_stmt* get() const noexcept;
  /// What the server has prepared of the same text, in exchange for what it had before.
  void take_over(statement& prepared_anew) noexcept;
  /// What `values` span must stay until the statement has run. The server is told their types where
  /// they are not those of the run before. How many bytes their texts have.
  std::size_t bind(std::span<const value> values);
  /// After a run that has failed nobody knows whether the server has heard them.
  void forget_types() noexcept;
  void take_result();
  void take_rows_one_by_one();
  void take_next_row();
  void end_rows() noexcept;

  std::unique_ptr<parts> parts_;
  std::span<const value> row_;
};

}  // namespace weft::store::mysql

// Where the library puts the row that it fetches, and what values that makes.
//
// Contract: internal to the engine. Integers and YEAR come as int64, or uint64 where the column is
// UNSIGNED; BIT as uint64; FLOAT and DOUBLE as float64; DECIMAL, texts, JSON, days and times as
// texts in the server's own spelling; what has the charset `binary` as bytes. A value is good until
// the next row is fetched. Allocates when a result is wider than those before.
//
// A result that is not stored comes row by row: bind_next() before the first, fill() after each,
// end() after the last.
//
//   bound_row row;
//   row.bind(statement);                          // after mysql_stmt_store_result()
//   while (mysql_stmt_fetch(statement) == 0) use(row.values());
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mariadb/mysql.h>

#include <weft/store/value.hpp>

namespace weft::store::mysql {

class bound_row {
 public:
  /// To the stored result of `of`, whose columns have the lengths of their longest values.
  void bind(MYSQL_STMT* of);
  /// To a result whose rows come one by one, and say how long they are.
  void bind_next(MYSQL_STMT* of);
  /// Finds the long texts and bytes of the row that was fetched: they stay in its packet.
  void fill(MYSQL_STMT* from);
  /// There are no values any more.
  void end() noexcept;
  /// What the last fetch has found.
  [[nodiscard]] std::span<const value> values();

 private:
  enum class meaning : std::uint8_t { integer, natural, float32, float64, bits, text, bytes };
  struct cell {
    meaning as{};
    std::size_t offset = 0;
    const char* place = nullptr;
    unsigned long length = 0;
    my_bool is_null = 0;
    my_bool is_cut = 0;
  };

  void bind(MYSQL_STMT* of, bool is_stored);
  [[nodiscard]] static meaning meaning_of(const MYSQL_FIELD& field) noexcept;
  [[nodiscard]] value value_of(const cell& from) const noexcept;

  std::vector<cell> cells_;
  std::vector<MYSQL_BIND> binds_;
  std::vector<char> content_;
  std::vector<value> values_;
};

}  // namespace weft::store::mysql

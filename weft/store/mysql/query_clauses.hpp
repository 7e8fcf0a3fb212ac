// Where in a query a name is a table's.
//
// Problem: "a.b" is a column in an expression, and table b of database a behind FROM. Contract: fed
// with each token in its order, it says what a name at this place names. A place that may be a
// table's is never taken for an expression's; the reverse may happen for text that no server takes.
// Words that some servers allow as aliases (WINDOW, OFFSET, FOR) do not end a list of tables.
//
//   if (clauses.place_of(before) == query_place::table) ...
//   clauses.pass(before, here, next);
#pragma once

#include <cstdint>
#include <vector>

#include <weft/store/mysql/query_tokens.hpp>

namespace weft::store::mysql {

enum class query_place : std::uint8_t { expression, table, common_table };

class query_clauses {
 public:
  /// What a name behind `before` names.
  [[nodiscard]] query_place place_of(const token& before) const noexcept;
  void pass(const token& before, const token& here, const token& next);

 private:
  /// What stands between one pair of parentheses, without those within it.
  struct level {
    bool lists_tables = false;         // behind FROM, until its clause ends
    bool lists_common_tables = false;  // behind WITH
    bool is_call = false;              // of a function that takes FROM between its arguments
  };
  void open(const token& before);
  void pass_word(const token& before, const token& here, const token& next) noexcept;

  std::vector<level> levels_{level{}};
};

}  // namespace weft::store::mysql

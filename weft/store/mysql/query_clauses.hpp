// Where in a query a name is a table's, and which tables are of its own WITH.
//
// Problem: "a.b" is a column in an expression, and table b of database a behind FROM; and a name of
// WITH is another table's where that WITH does not reach. Contract: fed with each token in its
// order, it says what a name at this place names. A place that may be a table's is never taken for
// an expression's; the reverse may happen for text that no server takes. Words that some servers
// allow as aliases (WINDOW, OFFSET, FOR) do not end a list of tables. A table of WITH is known from
// the end of its own query on, or from its name on behind RECURSIVE, as far as the parentheses
// around that WITH go.
//
//   if (clauses.place_of(before) == query_place::table) ...
//   clauses.pass(before, here, next);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/mysql/query_tokens.hpp>

namespace weft::store::mysql {

enum class query_place : std::uint8_t { expression, table, common_table };

class query_clauses {
 public:
  /// What a name behind `before` names.
  [[nodiscard]] query_place place_of(const token& before) const noexcept;
  /// Whether this is, at this place, a table of WITH. Letter by letter, as some servers compare.
  [[nodiscard]] bool has_common_table(std::string_view name) const noexcept;
  void pass(const token& before, const token& here, const token& next);

 private:
  /// What stands between one pair of parentheses, without those within it.
  struct level {
    bool lists_tables = false;         // behind FROM, until its clause ends
    bool lists_common_tables = false;  // behind WITH, until its last one ends
    bool is_recursive = false;         // that WITH
    bool is_call = false;              // of a function that takes FROM between its arguments
    std::string common_table{};        // whose own query has not ended
    std::vector<std::string> common_tables{};
  };
  void pass_common_table(const token& before, const token& here);
  void open(const token& before);
  void pass_word(const token& before, const token& here, const token& next) noexcept;

  std::vector<level> levels_{level{}};
};

}  // namespace weft::store::mysql

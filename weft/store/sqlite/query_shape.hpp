// How deep and how wide a query is, before SQLite sees it.
//
// Problem: SQLite works on a query by recursion, and newer ones nest as deep as the text does: a
// few thousand parentheses, or sums within sums, are more than a thread's stack has. Contract: told
// of any bytes, in one pass and without an allocation, with the tokens that SQLite finds in them
// (sqlite.org/lang_expr.html, sqlite.org/lang_comment.html): what stands in strings, quoted names,
// comments and names of parameters does not count. Where SQLite would find no token at all, it may
// count too much, and never too little.
//
//   if (shape_of(text).selects > selects_max) refuse();
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::store::sqlite {

struct query_shape {
  /// How many are open at once.
  std::size_t parentheses = 0;
  /// Each SELECT may stand in another, with or without parentheses: WITH has names for them.
  std::size_t selects = 0;
};

[[nodiscard]] query_shape shape_of(std::string_view text) noexcept;

}  // namespace weft::store::sqlite

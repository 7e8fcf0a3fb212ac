#include <weft/store/mysql/query_clauses.hpp>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace weft::store::mysql {
namespace {

using words = std::initializer_list<std::string_view>;

bool is_one_of(const token& of, words all) noexcept {
  return std::ranges::any_of(all, [&](std::string_view each) { return is_word(of, each); });
}

}  // namespace

query_place query_clauses::place_of(const token& before) const noexcept {
  const level& here = levels_.back();
  const bool is_next_of_list = is_sign(before, ",");
  if (here.lists_common_tables && (is_next_of_list || is_one_of(before, {"with", "recursive"})))
    return query_place::common_table;
  if (is_one_of(before, {"join", "table"})) return query_place::table;
  const bool begins_list =
      is_next_of_list || is_sign(before, "(") || is_one_of(before, {"from", "straight_join"});
  return here.lists_tables && begins_list ? query_place::table : query_place::expression;
}

bool query_clauses::has_common_table(std::string_view name) const noexcept {
  return std::ranges::any_of(
      levels_, [&](const level& each) { return std::ranges::contains(each.common_tables, name); });
}

void query_clauses::pass(const token& before, const token& here, const token& next) {
  if (levels_.back().lists_common_tables) pass_common_table(before, here);
  if (is_sign(here, "(")) open(before);
  if (is_sign(here, ")") && levels_.size() > 1) levels_.pop_back();
  if (here.is == token_kind::word && !is_sign(before, ".")) pass_word(before, here, next);
}

/// Of "a AS (...), b (x) AS (...)", behind which the query follows, be it in parentheses, too.
void query_clauses::pass_common_table(const token& before, const token& here) {
  level& at = levels_.back();
  const bool is_named =
      is_name(here) && place_of(before) == query_place::common_table && !is_word(here, "recursive");
  if (is_named) at.common_table = name_of(here);
  const bool has_ended = is_sign(before, ")") && !is_word(here, "as");
  if (at.is_recursive ? is_named : has_ended)
    at.common_tables.push_back(std::exchange(at.common_table, {}));
  if (has_ended) at.lists_common_tables = is_sign(here, ",");
}

void query_clauses::open(const token& before) {
  levels_.push_back(
      {.lists_tables = place_of(before) == query_place::table,
       .is_call = is_one_of(before, {"extract", "trim", "substring", "substr", "mid"})});
}

void query_clauses::pass_word(const token& before, const token& here, const token& next) noexcept {
  level& at = levels_.back();
  // VALUES is a function, too.
  const bool begins = is_word(here, "select") || (is_word(here, "values") && is_sign(before, "("));
  const bool lists = is_word(here, "with") && !is_word(next, "rollup");
  if (begins || lists) {
    at.lists_tables = false;
    at.is_call = false;
    at.lists_common_tables = lists;
    at.is_recursive = lists && is_word(next, "recursive");
  }
  if (is_word(here, "from") && !at.is_call) at.lists_tables = true;
  // Index hints say FOR ORDER BY and FOR GROUP BY within a list of tables.
  const bool is_by = is_one_of(here, {"group", "order"}) && is_word(next, "by");
  const bool ends_list =
      is_one_of(here, {"where", "having", "limit", "union"}) || (is_by && !is_word(before, "for"));
  if (ends_list) at.lists_tables = false;
}

}  // namespace weft::store::mysql

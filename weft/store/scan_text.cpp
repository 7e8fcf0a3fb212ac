#include <weft/store/scan_text.hpp>

#include <array>

namespace weft::store {
namespace {

constexpr std::array<std::string_view, 8> signs{
    "=", "<>", "<", "<=", ">", ">=", " IS NULL", " IS NOT NULL"};

std::string_view sign_of(filter_kind kind) noexcept {
  return signs[static_cast<std::size_t>(kind)];
}

}  // namespace

void scan_text::add_comparison(column_position of, std::string_view how, const value& with) {
  add_name(of);
  text_ += how;
  add_parameter(with, of);
}

void scan_text::add_rank_comparison(column_position of, std::string_view how, const value& with) {
  add_rank(of);
  text_ += how;
  add_parameter(with, of);
}

void scan_text::add_ranges() {
  if (request_.ranges.empty()) return;
  text_ += " AND (0";
  for (const key_range& each : request_.ranges) {
    text_ += " OR (1";
    if (!each.lower.values.empty()) add_bound(each.lower, true);
    if (!each.upper.values.empty()) add_bound(each.upper, false);
    text_ += ')';
  }
  text_ += ')';
}

void scan_text::add_filter(const filter& condition) {
  add_condition(condition, false, conjunction::all);
}

/// SQLite's parser has a stack of 100 and needs several entries for each open parenthesis. So NAND
/// and NOR become AND and OR of what is negated (De Morgan's laws hold for NULL, too), and only an
/// OR within an AND has parentheses.
void scan_text::add_condition(const filter& condition, bool is_negated, conjunction within) {
  using enum filter_kind;
  if (condition.kind < both) return add_test(condition, is_negated);
  const bool negates = condition.kind == not_both || condition.kind == neither;
  const bool is_all = (condition.kind == both || condition.kind == neither) != is_negated;
  const conjunction here = is_all ? conjunction::all : conjunction::any;
  const bool is_in_parentheses = here == conjunction::any && within == conjunction::all;
  if (is_in_parentheses) text_ += '(';
  add_condition(*condition.left, negates != is_negated, here);
  text_ += is_all ? " AND " : " OR ";
  add_condition(*condition.right, negates != is_negated, here);
  if (is_in_parentheses) text_ += ')';
}

void scan_text::add_test(const filter& condition, bool is_negated) {
  text_ += is_negated ? "NOT(" : "(";
  add_name(condition.column);
  text_ += sign_of(condition.kind);
  if (condition.kind < filter_kind::is_null) add_parameter(condition.with, condition.column);
  text_ += ')';
}

/// Equal in the first columns and behind it in the next, for each of them.
void scan_text::add_behind(std::span<const value> place) {
  text_ += " AND (0";
  for (std::size_t i = 0; i < place.size(); ++i) {
    text_ += " OR (1";
    for (std::size_t k = 0; k < i; ++k) {
      text_ += " AND ";
      add_rank_comparison(order_[k], same_, place[k]);
    }
    text_ += " AND ";
    add_step_behind(i, place[i]);
    text_ += ')';
  }
  text_ += ')';
}

void scan_text::add_step_behind(std::size_t at, const value& last) {
  if (last.is_null()) {
    if (request_.is_descending) {
      text_ += '0';
    } else {
      add_name(order_[at]);
      text_ += " IS NOT NULL";
    }
    return;
  }
  if (!request_.is_descending) {
    add_rank_comparison(order_[at], ">", last);
    return;
  }
  text_ += '(';
  add_rank_comparison(order_[at], "<", last);
  text_ += " OR ";
  add_name(order_[at]);
  text_ += " IS NULL)";
}

void scan_text::add_order() {
  text_ += " ORDER BY ";
  for (const column_position at : order_) {
    if (!text_.ends_with(' ')) text_ += ',';
    add_name(at);
    if (request_.is_descending) text_ += " DESC";
  }
}

}  // namespace weft::store

#include <apps/weftd/scan_plan.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <apps/weftd/row_plan.hpp>
#include <weft/base/format.hpp>

namespace weftd {
namespace {

namespace store = weft::store;

template <class T>
using planned = std::expected<T, api_fault>;

template <class Kind>
struct word {
  std::string_view text;
  Kind kind;
};

constexpr std::array logic_words{
    word{"AND", store::filter_kind::both}, word{"OR", store::filter_kind::either},
    word{"NAND", store::filter_kind::not_both}, word{"NOR", store::filter_kind::neither}};
constexpr std::array condition_words{
    word{"GT", store::filter_kind::greater}, word{"GE", store::filter_kind::greater_or_equal},
    word{"LT", store::filter_kind::less},    word{"LE", store::filter_kind::less_or_equal},
    word{"EQ", store::filter_kind::equal},   word{"NE", store::filter_kind::not_equal}};
constexpr std::array null_words{word{"ISNULL", store::filter_kind::is_null},
                                word{"ISNOTNULL", store::filter_kind::is_not_null}};

std::optional<store::filter_kind> find_word(std::span<const word<store::filter_kind>> known,
                                            std::string_view text) noexcept {
  const auto found = std::ranges::find(known, text, &word<store::filter_kind>::text);
  return found == known.end() ? std::nullopt : std::optional{found->kind};
}

/// A value that a column is compared with: NULL is none.
planned<store::value> make_operand(const weft::json::lent_scalar& given, const store::column& of,
                                   std::string_view section, request_memory& memory) {
  if (given.kind() == weft::json::scalar_kind::null)
    return refuse(weft::format("[{}] Invalid value. Column: {}", section, of.name));
  auto made = make_value(given, of, store::purpose::content, memory);
  if (made) return *made;
  return refuse_unknown(weft::format("[{}] Invalid value. {}", section, made.error().message));
}

class filter_planner {
 public:
  filter_planner(const store::table& of, request_memory& memory) noexcept
      : of_{of}, memory_{memory} {}

  planned<const store::filter*> plan(const scan_filter& asked, unsigned depth = 1) {
    if (depth > store::filter_depth_max)
      return refuse(weft::format("[ScanFilter] Filter nesting too deep (max {} levels)",
                                 store::filter_depth_max));
    if (!asked.op) return refuse("[ScanFilter] Missing required field: op");
    const std::string_view op = asked.op->view();
    if (const auto logic = find_word(logic_words, op)) return plan_logic(asked, *logic, depth);
    if (op == "CMP") return plan_comparison(asked);
    if (const auto test = find_word(null_words, op)) return plan_null_test(asked, *test);
    return refuse(weft::format("[ScanFilter] Unknown op: {}", op));
  }

 private:
  planned<const store::filter*> plan_logic(const scan_filter& asked, store::filter_kind kind,
                                           unsigned depth) {
    if (!asked.args || asked.args->size() != filter_args)
      return refuse("[ScanFilter] Logic op must contain 2 children");
    const auto left = plan(asked.args->front(), depth + 1);
    if (!left) return left;
    const auto right = plan(asked.args->back(), depth + 1);
    if (!right) return right;
    return keep({.kind = kind, .left = *left, .right = *right});
  }

  planned<const store::filter*> plan_comparison(const scan_filter& asked) {
    const auto at = find_column(asked);
    if (!at) return std::unexpected{at.error()};
    if (!asked.cond) return refuse("[ScanFilter] Missing required field: cond");
    const auto kind = find_word(condition_words, asked.cond->view());
    if (!kind)
      return refuse(weft::format("[ScanFilter] Invalid condition: {}", asked.cond->view()));
    if (!asked.value.is_given()) return refuse("[ScanFilter] Missing required field: value");
    const auto with = make_operand(asked.value, of_.columns()[*at], "ScanFilter", memory_);
    if (!with) return std::unexpected{with.error()};
    return keep({.kind = *kind, .column = *at, .with = *with});
  }

  planned<const store::filter*> plan_null_test(const scan_filter& asked, store::filter_kind kind) {
    const auto at = find_column(asked);
    if (!at) return std::unexpected{at.error()};
    return keep({.kind = kind, .column = *at});
  }

  planned<store::column_position> find_column(const scan_filter& asked) const {
    if (asked.args)
      return refuse("[ScanFilter] Misplaced field: args are of AND, OR, NAND and NOR only");
    if (!asked.column) return refuse("[ScanFilter] Missing required field: column");
    const auto at = of_.find(asked.column->view());
    if (at) return *at;
    return refuse_unknown(weft::format("Column does not exist. Column: {}", asked.column->view()));
  }

  const store::filter* keep(const store::filter& made) {
    const std::span<store::filter> place = memory_.room.make_array<store::filter>(1);
    place.front() = made;
    return place.data();
  }

  const store::table& of_;
  request_memory& memory_;
};

/// The primary key, or one of the table's indexes.
struct found_index {
  std::optional<std::size_t> number;
  std::span<const store::column_position> columns;
};

planned<found_index> find_index(const store::table& of, const scan_index& asked) {
  if (!asked.name) return refuse("[ScanIndex] Missing required field: name");
  const std::string_view name = asked.name->view();
  if (name == "PRIMARY") return found_index{std::nullopt, of.key()};
  const auto found = std::ranges::find(of.indexes(), name, &store::secondary_index::name);
  if (found == of.indexes().end())
    return refuse_unknown(weft::format("[Scan] Index does not exist. Index: {}", name));
  return found_index{static_cast<std::size_t>(found - of.indexes().begin()), found->columns};
}

/// How many columns of the index they are. Left out: all.
planned<std::size_t> match_key_columns(const store::table& of, const found_index& index,
                                       const scan_index& asked) {
  if (!asked.key_columns) return index.columns.size();
  if (asked.key_columns->empty())
    return refuse("[ScanIndex] key_columns is empty: name columns, or leave it out");
  const auto& names = *asked.key_columns;
  const auto is_named = [&of](const lent_text& name, store::column_position at) {
    return name.view() == of.columns()[at].name;
  };
  if (names.size() > index.columns.size() ||
      !std::equal(names.begin(), names.end(), index.columns.begin(), is_named))
    return refuse_unknown(weft::format(
        "[ScanIndex] key_columns are not the first columns of index {}", asked.name->view()));
  return names.size();
}

planned<store::key_bound> plan_bound(const store::table& of,
                                     std::span<const store::column_position> columns,
                                     const std::optional<scan_bound>& asked,
                                     request_memory& memory) {
  if (!asked) return store::key_bound{};
  if (!asked->values) return refuse("[ScanIndex] Missing required field: values");
  const auto& given = *asked->values;
  if (given.empty()) return store::key_bound{};
  if (given.size() > columns.size())
    return refuse_unknown(
        weft::format("[ScanIndex] {} values for {} key_columns", given.size(), columns.size()));
  const std::span<store::value> values = memory.room.make_array<store::value>(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto made = make_operand(given[i], of.columns()[columns[i]], "ScanIndex", memory);
    if (!made) return std::unexpected{made.error()};
    values[i] = *made;
  }
  return store::key_bound{.values = values, .is_inclusive = asked->inclusive.value_or(true)};
}

planned<std::span<const store::key_range>> plan_ranges(
    const store::table& of, std::span<const store::column_position> columns,
    const std::optional<scan_ranges>& asked, request_memory& memory) {
  if (!asked) return std::span<const store::key_range>{};
  const std::span<store::key_range> ranges =
      memory.room.make_array<store::key_range>(asked->size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto lower = plan_bound(of, columns, (*asked)[i].lower, memory);
    if (!lower) return std::unexpected{lower.error()};
    const auto upper = plan_bound(of, columns, (*asked)[i].upper, memory);
    if (!upper) return std::unexpected{upper.error()};
    ranges[i] = {*lower, *upper};
  }
  return ranges;
}

planned<bool> plan_order(const scan_index& asked) {
  if (!asked.order || asked.order->view() == "asc") return false;
  if (asked.order->view() == "desc") return true;
  return refuse(weft::format("[ScanIndex] Invalid order: {}", asked.order->view()));
}

planned<void> plan_index(const scan_index& asked, request_memory& memory,
                         store::scan_request& plan) {
  const auto index = find_index(*plan.from, asked);
  if (!index) return std::unexpected{index.error()};
  const auto count = match_key_columns(*plan.from, *index, asked);
  if (!count) return std::unexpected{count.error()};
  const auto ranges = plan_ranges(*plan.from, index->columns.first(*count), asked.ranges, memory);
  if (!ranges) return std::unexpected{ranges.error()};
  const auto is_descending = plan_order(asked);
  if (!is_descending) return std::unexpected{is_descending.error()};
  plan.index = index->number;
  plan.ranges = *ranges;
  plan.is_descending = *is_descending;
  return {};
}

planned<std::size_t> plan_limit(const std::optional<std::int64_t>& asked) {
  if (!asked) return refuse("[Scan] Must provide limit field");
  if (*asked < 0) return refuse(weft::format("[Scan] Invalid limit: {}", *asked));
  return static_cast<std::size_t>(*asked);
}

std::span<const store::column_position> all_columns(const store::table& of,
                                                    request_memory& memory) {
  const auto all = memory.room.make_array<store::column_position>(of.columns().size());
  std::iota(all.begin(), all.end(), store::column_position{0});
  return all;
}

}  // namespace

planned<store::scan_request> plan_scan(const store::catalog& schema, std::string_view database,
                                       std::string_view table, const scan_request& asked,
                                       request_memory& memory) {
  const auto limit = plan_limit(asked.limit);
  if (!limit) return std::unexpected{limit.error()};
  const auto from = find_table(schema, database, table);
  if (!from) return std::unexpected{from.error()};
  const bool names_columns = asked.readColumns && !asked.readColumns->empty();
  const auto columns =
      names_columns ? find_columns(**from, *asked.readColumns, memory)
                    : planned<std::span<const store::column_position>>{all_columns(**from, memory)};
  if (!columns) return std::unexpected{columns.error()};
  store::scan_request plan{.from = *from, .columns = *columns, .limit = *limit};
  if (asked.filters) {
    const auto where = filter_planner{**from, memory}.plan(*asked.filters);
    if (!where) return std::unexpected{where.error()};
    plan.where = *where;
  }
  if (asked.index)
    if (auto index = plan_index(*asked.index, memory, plan); !index)
      return std::unexpected{index.error()};
  if (asked.continuation) plan.continuation = asked.continuation->view();
  return plan;
}

}  // namespace weftd

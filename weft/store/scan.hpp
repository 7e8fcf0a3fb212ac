// What rows a scan is to find, and in what order.
//
// Contract: a request is made of views, which the caller keeps until the scan has ended. Rows come
// in the order of the index and, among equals, of the primary key, which the table must have; rows
// whose keys are NULL or equal come in an order that is the engine's and does not change. A
// filter is SQL's: a comparison with NULL is neither true nor false, and what is not true is not
// found. Filters are 32 deep at most, and ranges 64.
//
//   const filter cheap{.kind = filter_kind::less, .column = price, .with = value::text("5.00")};
//   scan_request request{.from = orders, .columns = columns, .where = &cheap, .limit = 100};
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <weft/loop/memory_share.hpp>
#include <weft/store/failure.hpp>
#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

namespace weft::store {

enum class filter_kind : std::uint8_t {
  // A column and a value.
  equal,
  not_equal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  // A column.
  is_null,
  is_not_null,
  // Two filters.
  both,      // AND
  either,    // OR
  not_both,  // NAND
  neither,   // NOR
};

struct filter {
  filter_kind kind;
  column_position column = 0;
  value with{};
  const filter* left = nullptr;
  const filter* right = nullptr;
};

inline constexpr unsigned filter_depth_max = 32;
inline constexpr std::size_t key_ranges_max = 64;

/// One end of a range: of the first so many columns of the index. No values: there is no end.
struct key_bound {
  std::span<const value> values{};
  bool is_inclusive = true;
};

struct key_range {
  key_bound lower{};
  key_bound upper{};
};

struct scan_request {
  const table* from;
  std::span<const column_position> columns;
  /// nullptr: all rows.
  const filter* where = nullptr;
  /// Which of from->indexes(); nothing: the primary key.
  std::optional<std::size_t> index{};
  /// Rows of any of them; none: all.
  std::span<const key_range> ranges{};
  bool is_descending = false;
  /// Rows at most.
  std::size_t limit = 0;
  /// What a scan of the same table, index and order has given to go on from.
  std::string_view continuation{};
};

/// The columns by which a scan goes: the index's, and those of the key that are not among them.
[[nodiscard]] std::vector<column_position> order_of(const scan_request& request);

/// Whether filters are no deeper, and ranges no more, than they may be.
[[nodiscard]] bool is_within_bounds(const scan_request& request) noexcept;

/// Who takes what a scan finds.
class scan_sink {
 public:
  /// The values are good until it returns.
  virtual void row(std::span<const value> values) = 0;
  /// row(), of a long row (engine.hpp). `memory`: what was reserved for that which is made of it,
  /// which may be kept. False: there is no memory for it. The scan ends before it.
  [[nodiscard]] virtual bool long_row(std::span<const value> values,
                                      memory_reservation /*memory*/) {
    row(values);
    return true;
  }
  /// The scan ends here, with what was told before.
  virtual void failed(const failure& why) = 0;
  /// Whether it has enough, so that the scan may end before its limit. Asked now and then.
  [[nodiscard]] virtual bool is_full() const { return false; }
  /// As of a read_sink, before the next row.
  [[nodiscard]] virtual bool is_turn_over() { return false; }

 protected:
  ~scan_sink() = default;
};

}  // namespace weft::store

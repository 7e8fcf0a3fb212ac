// Questions in SQL, for engines that take them.
//
// Problem: not every question is one for a key or a range, and whoever asks in SQL must neither
// change anything nor keep others waiting. Contract: an interface beside engine's, one a shard. A
// query is one statement that only reads; its values are bound, never written into its text. It is
// not made on the shard, and ends when `rows_max` are told, when the sink has enough, at the
// engine's own bound of time, at the caller's deadline (errc::timed_out) or stop request
// (errc::cancelled), whichever is first. So many may wait; one more is errc::limit_exceeded.
// errc::not_found: no such database. errc::unavailable: its server is not to be had. What is wrong
// with the text or the parameters is told to the sink, as failure_kind::invalid and a query_fault.
// All rows of a query are of one moment.
//
//   const query_parameter price[] = {{.name = "most", .bound = value::integer(5)}};
//   const query_request asked{.database = "shop",
//                             .text = "SELECT id FROM orders WHERE price < :most",
//                             .parameters = price};
//   if (auto told = co_await shop.query(asked, sink); !told) co_return fail(told.error());
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/store/failure.hpp>
#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

namespace weft::store {

struct query_parameter {
  /// Without what stands before it in the text (":most" is "most"); empty: by its place.
  std::string_view name{};
  value bound;
};

/// What is viewed must stay until the query has ended.
struct query_request {
  std::string_view database;
  std::string_view text;
  /// All have names, or none has.
  std::span<const query_parameter> parameters{};
  std::size_t rows_max = std::numeric_limits<std::size_t>::max();
};

/// Who takes what a query finds.
class query_sink {
 public:
  /// Once, before all rows. Names are told apart; a column that is no table's, but computed, has a
  /// type that tells values as what they are. Good until the query ends.
  virtual void columns(std::span<const column> given) = 0;
  /// The values are good until it returns. False: it has enough.
  virtual bool row(std::span<const value> values) = 0;
  /// row(), of a long row (engine.hpp). `memory`: what was reserved for that which is made of it,
  /// which may be kept.
  [[nodiscard]] virtual bool long_row(std::span<const value> values,
                                      memory_reservation /*memory*/) {
    return row(values);
  }
  /// The query ends here, with what was told before.
  virtual void failed(const failure& why) = 0;
  /// As of a read_sink, before the next row.
  [[nodiscard]] virtual bool is_turn_over() { return false; }

 protected:
  ~query_sink() = default;
};

class query_engine {
 public:
  query_engine() = default;
  query_engine(const query_engine&) = delete;
  query_engine& operator=(const query_engine&) = delete;
  virtual ~query_engine() = default;

  /// Whether the sink was told of all rows that there are.
  [[nodiscard]] virtual borrowing_task<result<bool>> query(
      const query_request& request WEFT_LIFETIME_BOUND, query_sink& to) = 0;
};

}  // namespace weft::store

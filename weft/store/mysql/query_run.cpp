#include <weft/store/mysql/query_run.hpp>

#include <string>

#include <mariadb/mysqld_error.h>

#include <weft/base/format.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/mysql/server_errors.hpp>
#include <weft/store/turn_share.hpp>
#include <weft/store/value_copy.hpp>

namespace weft::store::mysql {
namespace {

/// So many rows that nobody wants are let come, rather than that the connection is made anew.
constexpr std::size_t unwanted_max = 1'000;

/// Rows that are there already are told without a wait, so many at a time.
constexpr std::size_t rows_of_a_turn = 64;

/// What the words of a client are to blame for.
bool is_of_query(failure_kind why) noexcept {
  switch (why) {
    case failure_kind::busy:
    case failure_kind::full:
    case failure_kind::corrupt:
    case failure_kind::input_output: return false;
    default: return true;
  }
}

query_fault fault_of(unsigned number) noexcept {
  switch (number) {
    case ER_PARSE_ERROR: return query_fault::syntax;
    case ER_UNSUPPORTED_PS:
    case ER_NOT_SUPPORTED_YET: return query_fault::unsupported;
    default: return query_fault::semantic;
  }
}

}  // namespace

task<result<bool>> query_run::run(connection& by, query_sink& to) {
  bool is_at_end = false;
  const auto told = co_await run_inside(by, to, is_at_end);
  if (!by.is_open()) co_return told;
  if (!is_at_end || !co_await by.run("ROLLBACK")) by.close();
  co_return told;
}

/// `is_at_end`: no rows are under way.
task<result<bool>> query_run::run_inside(connection& by, query_sink& to, bool& is_at_end) {
  is_at_end = true;
  if (const auto used = co_await by.use(request_.database); !used) {
    if (by.server_error() == ER_BAD_DB_ERROR) co_return fail(errc::not_found);
    co_return settle(by, used.error(), to);
  }
  if (const auto begun = co_await by.run("START TRANSACTION READ ONLY"); !begun)
    co_return settle(by, begun.error(), to);
  auto select = co_await by.prepare(text_.sql);
  if (!select) co_return settle(by, select.error(), to);
  if (select->columns().empty() || select->parameters() != text_.parameters.size()) {
    co_return refuse("a query may only read, by SELECT", to);
  }
  if (const auto ran = co_await by.begin(*select, text_.parameters); !ran)
    co_return settle(by, ran.error(), to);
  is_at_end = false;
  columns_ = select->columns();  // which the types of its parameters have a say in
  const auto told = co_await tell(by, *select, to, is_at_end);
  // Before the statement ends, which reads all that is left, and keeps the shard meanwhile.
  if (!is_at_end) by.close();
  co_return told;
}

task<result<bool>> query_run::tell(connection& by, statement& select, query_sink& to,
                                   bool& is_at_end) {
  if (const std::string name = select.computed_bits(); !name.empty())
    co_return refuse(weft::format("{} is a BIT that the server computes, and does not say how it "
                                  "spells it: add 0, which makes a number of it",
                                  name),
                     to);
  to.columns(columns_);
  co_return co_await tell_rows(by, select, to, is_at_end);
}

task<result<bool>> query_run::tell_rows(connection& by, statement& select, query_sink& to,
                                        bool& is_at_end) {
  bool is_enough = false;
  bool is_all = true;
  for (std::size_t unwanted = 0; unwanted < unwanted_max;) {
    const bool is_wanted = !is_enough && rows_ != request_.rows_max;
    const auto is_row = co_await by.fetch(select, is_wanted ? row_wait::in_line : row_wait::none);
    if (!is_row) {
      is_at_end = by.server_error() != 0 || !by.is_open();  // or it may wait no longer
      if (!is_wanted) co_return false;
      co_return settle(by, is_row.error(), to);
    }
    if (!*is_row) {
      is_at_end = true;
      co_return is_all;
    }
    if (!is_wanted) {
      is_all = false;
      ++unwanted;
      continue;
    }
    is_enough = !tell_row(by, select, to);
    ++rows_;
    if (to.is_turn_over())
      co_await next_turn(loop_);
    else if (rows_ % rows_of_a_turn == 0)
      co_await yield{loop_};
  }
  co_return false;
}

bool query_run::tell_row(connection& by, const statement& select, query_sink& to) {
  if (!by.has_long_row()) [[likely]]
    return to.row(select.row());
  const std::span<const value> row = select.row();
  return to.long_row(row, by.take_row_memory(told_bytes(bytes_of(row), row.size())));
}

bool query_run::refuse(std::string_view why, query_sink& to) {
  fault_ = failure_kind::invalid;
  to.failed({.kind = *fault_, .message = why, .of_query = query_fault::unsupported});
  return false;
}

result<bool> query_run::settle(const connection& by, error why, query_sink& to) {
  if (is_of_time(by.server_error())) return fail(errc::timed_out);
  if (by.server_error() == 0 || !by.is_open()) return fail(why);
  const failure told = by.last_failure();
  if (is_on_replica_ && !has_told() && may_be_behind(told.kind)) return fail(errc::not_found);
  fault_ = is_of_query(told.kind) ? failure_kind::invalid : told.kind;
  to.failed({.kind = *fault_,
             .message = told.message,
             .of_query = *fault_ == failure_kind::invalid ? fault_of(by.server_error())
                                                          : query_fault::none});
  return false;
}

}  // namespace weft::store::mysql

#include <weft/store/mysql/key_lookup.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <iterator>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/store/mysql/key_charsets.hpp>
#include <weft/store/mysql/key_index.hpp>
#include <weft/store/mysql/server_errors.hpp>
#include <weft/store/mysql/sql_text.hpp>
#include <weft/store/mysql/too_large.hpp>
#include <weft/store/value_copy.hpp>

namespace weft::store::mysql {
namespace {

constexpr std::string_view table_has_changed =
    "the table has changed since it was asked for: ask again";

constexpr std::string_view no_memory =
    "there is no memory for the rows now: try again, or ask for fewer rows or columns at once";
constexpr duration memory_wait = std::chrono::seconds{1};

/// So that there are few statements of different lengths.
std::size_t padded(std::size_t keys) noexcept { return std::bit_ceil(keys); }

bool is_alike(const key_read& left, const key_read& right) noexcept {
  return left.from == right.from && std::ranges::equal(left.columns, right.columns);
}

std::size_t number_in(const value& from) noexcept {
  return from.kind() == value_kind::uint64 ? from.as_natural()
                                           : static_cast<std::size_t>(from.as_integer());
}

}  // namespace

void key_lookup::refuse(std::size_t operation, failure_kind why, std::string_view message) {
  found_[operation] = {.is = outcome::failed, .why = why, .message = room_.copy(message)};
}

void key_lookup::group() {
  std::vector<bool> is_taken(operations_.size());
  order_.reserve(operations_.size());  // groups are spans of it
  for (std::size_t first = 0; first < operations_.size(); ++first) {
    if (is_taken[first] || !is_open(first)) continue;
    const key_read& of = operations_[first];
    WEFT_ASSERT(!of.from->key().empty() && of.from->key().size() == of.key.size(),
                "a key has a value for each column of the table's primary key");
    const std::size_t begin = order_.size();
    for (std::size_t i = first; i < operations_.size(); ++i) {
      if (is_taken[i] || !is_open(i) || !is_alike(of, operations_[i])) continue;
      is_taken[i] = true;
      order_.push_back(i);
      if (order_.size() - begin == key_index::operations_max) break;
    }
    waiting_.push_back(std::span{order_}.subspan(begin));
  }
  std::ranges::reverse(waiting_);
}

task<result<void>> key_lookup::run_next(connection& by, bool is_on_replica) {
  const std::span<std::size_t> asked = waiting_.back();
  waiting_.pop_back();
  result<void> done = co_await look_up(by, asked);
  if (is_on_replica && reopen(asked)) done = fail(errc::not_found);
  if (done) co_return done;
  const auto answered =
      std::ranges::partition(asked, [this](std::size_t each) { return is_open(each); });
  if (const auto open = asked.first(asked.size() - answered.size()); !open.empty())
    waiting_.push_back(open);
  co_return done;
}

task<result<statement*>> key_lookup::ask(connection& by, std::string_view sql, numbers asked) {
  const std::size_t key_size = operations_[asked.front()].key.size();
  const std::span<value> parameters = room_.make_array<value>(padded(asked.size()) * key_size);
  auto next = parameters.begin();
  for (std::size_t i = 0; i < padded(asked.size()); ++i)
    next = std::ranges::copy(operations_[asked[std::min(i, asked.size() - 1)]].key, next).out;
  auto prepared = co_await by.prepared(sql);
  if (!prepared) co_return prepared;
  if (const auto ran = co_await by.begin(**prepared, parameters); !ran) co_return fail(ran.error());
  co_return prepared;
}

template <class Take>
task<result<void>> key_lookup::take_rows(connection& by, statement& from, numbers asked,
                                         Take take) {
  for (;;) {
    const auto is_row = co_await by.fetch(from, long_rows_ ? row_wait::ahead : row_wait::in_line);
    if (!is_row) co_return co_await settle(by, is_row.error(), asked);
    if (!*is_row) co_return {};
    take(from.row());
    const bool needs_memory = !counted_ && bytes_ - long_bytes_ > uncounted_bytes;
    if (!needs_memory && bytes_ <= bytes_max_) continue;
    const auto reserved = co_await reserve();
    if (reserved && *reserved && bytes_ <= bytes_max_) continue;
    by.close();  // what is still on its way is not read
    if (!reserved) co_return fail(reserved.error());
    if (bytes_ > bytes_max_)
      refuse_all(failure_kind::too_large, too_large(bytes_max_));
    else
      refuse_all(failure_kind::no_memory, no_memory);
    co_return {};
  }
}

task<result<bool>> key_lookup::reserve() {
  const auto turn = co_await reserving_.lock();
  if (!turn) co_return fail(turn.error());
  if (counted_ || bytes_ > bytes_max_) co_return true;
  if (has_no_memory_) co_return false;  // another statement has waited in vain
  auto memory = co_await with_timeout(
      memory_wait,
      reserve_memory(memory_, memory_kind::queries, bytes_max_, memory_priority::normal));
  if (memory) counted_ = std::move(*memory);
  if (!memory && memory.error() == errc::cancelled) co_return fail(memory.error());
  has_no_memory_ = !memory;
  co_return memory.has_value();
}

task<result<void>> key_lookup::look_up(connection& by, numbers asked) {
  const key_read& first = operations_[asked.front()];
  const std::string sql = select_by_keys(*first.from, first.columns, padded(asked.size()));
  const auto ran = co_await ask(by, sql, asked);
  if (!ran) co_return co_await settle(by, ran.error(), asked);
  const key_index wanted{operations_, asked};
  const std::size_t key_size = first.key.size();
  bool has_rows = false;
  bool is_any_strange = false;  // a row of a key that is spelled like none that was asked for
  const auto match = [&](std::span<const value> row) {
    const found kept = copy_row(by, row.subspan(key_size));
    bool is_known = false;
    wanted.for_each(row.first(key_size), [&](std::size_t operation) {
      is_known = true;
      keep_row(operation, kept);
    });
    has_rows = true;
    is_any_strange = is_any_strange || !is_known;
  };
  if (const auto taken = co_await take_rows(by, **ran, asked, match); !taken) co_return taken;
  const std::vector<std::size_t> rest = open_of(asked);
  if (rest.empty()) co_return {};
  if (is_any_strange || (has_rows && has_text_in_key(*first.from)))
    co_return co_await look_up_numbered(by, rest);
  end_open(rest);
  co_return {};
}

task<result<void>> key_lookup::look_up_numbered(connection& by, numbers asked) {
  const key_read& first = operations_[asked.front()];
  const std::string sql = select_by_numbered_keys(*first.from, first.columns, padded(asked.size()));
  const auto ran = co_await ask(by, sql, asked);
  if (!ran) co_return co_await settle(by, ran.error(), asked);
  const auto match = [&](std::span<const value> row) {
    const std::size_t number = number_in(row.front());
    if (number < asked.size()) keep_row(asked[number], copy_row(by, row.subspan(1)));
  };
  if (const auto taken = co_await take_rows(by, **ran, asked, match); !taken) co_return taken;
  end_open(asked);
  co_return {};
}

task<result<void>> key_lookup::look_up_held(connection& by, numbers asked) {
  const std::vector<std::size_t> open = open_of(asked);
  if (open.size() <= 1) {
    end_open(open);
    co_return {};
  }
  std::vector<std::span<const value>> keys(open.size());
  std::ranges::transform(open, keys.begin(),
                         [this](std::size_t each) { return operations_[each].key; });
  const auto held = co_await held_by_charsets(by, *operations_[open.front()].from, keys);
  if (!held) co_return settle_all(by, held.error(), open);
  for (std::size_t i = 0; i < open.size(); ++i)
    if (!(*held)[i]) found_[open[i]].is = outcome::missing;
  const std::vector<std::size_t> rest = open_of(open);
  if (rest.empty()) co_return {};
  if (rest.size() < open.size()) co_return co_await look_up(by, rest);
  // The columns have other charsets by now.
  fail_all(rest, {.kind = failure_kind::schema_changed, .message = table_has_changed});
  co_return {};
}

task<result<void>> key_lookup::settle(connection& by, error why, numbers asked) {
  if (is_of_charsets(by.server_error())) co_return co_await look_up_held(by, asked);
  co_return settle_all(by, why, asked);
}

result<void> key_lookup::settle_all(connection& by, error why, numbers asked) {
  if (why == errc::limit_exceeded) {  // one row alone was too large
    refuse_all(failure_kind::too_large, too_large(by, bytes_max_));
    return {};
  }
  if (why == errc::exhausted && by.last_failure().kind == failure_kind::no_memory) {
    refuse_all(failure_kind::no_memory, no_memory);
    return {};
  }
  if (by.server_error() == 0) return fail(why);
  if (has_waited_in_vain(by.server_error())) by.close();
  if (!by.is_open()) return fail(why);  // it shuts down, or is cut off: another may know
  const failure told = by.last_failure();
  fail_all(asked, {.kind = told.kind, .message = room_.copy(told.message)});
  return {};
}

void key_lookup::fail_all(numbers asked, const failure& why) {
  for (const std::size_t each : asked)
    found_[each] = {.is = outcome::failed, .why = why.kind, .message = why.message};
}

key_lookup::found key_lookup::copy_row(connection& by, std::span<const value> row) {
  const std::size_t before = bytes_;
  found copied{.is = outcome::row, .values = copy_values(row, room_, bytes_)};
  if (!by.has_long_row()) return copied;
  copied.long_bytes = bytes_ - before;
  long_bytes_ += copied.long_bytes;
  long_rows_.join(by.take_row_memory(copied.long_bytes));
  told_memory_.join(by.take_row_memory(told_bytes(copied.long_bytes, row.size())));
  return copied;
}

void key_lookup::keep_row(std::size_t operation, const found& kept) {
  found& of = found_[operation];
  if (of.is == outcome::row) {  // the key is that of a row no longer
    of = {.is = outcome::failed, .why = failure_kind::schema_changed, .message = table_has_changed};
  }
  if (of.is == outcome::open) of = kept;
}

std::vector<std::size_t> key_lookup::open_of(numbers asked) const {
  std::vector<std::size_t> open;
  std::ranges::copy_if(asked, std::back_inserter(open),
                       [this](std::size_t each) { return is_open(each); });
  return open;
}

bool key_lookup::is_stale() const noexcept {
  // Those that were refused are in no group.
  return std::ranges::any_of(order_, [this](std::size_t each) {
    return found_[each].is == outcome::failed && found_[each].why == failure_kind::schema_changed;
  });
}

bool key_lookup::reopen(numbers asked) noexcept {
  bool is_any = false;
  for (const std::size_t each : asked) {
    if (found_[each].is != outcome::failed || !may_be_behind(found_[each].why)) continue;
    lack_ = std::exchange(found_[each], {}).message;
    is_any = true;
  }
  return is_any;
}

void key_lookup::end_open(numbers asked) {
  for (const std::size_t each : asked)
    if (is_open(each)) found_[each].is = outcome::missing;
}

void key_lookup::refuse_all(failure_kind why, std::string_view message) {
  waiting_.clear();
  const std::string_view kept = room_.copy(message);
  for (found& each : found_)
    if (each.is != outcome::failed) each = {.is = outcome::failed, .why = why, .message = kept};
  if (others_ != nullptr) others_->request_stop();
}

void key_lookup::tell_row(std::size_t operation, read_sink& to) {
  const found& row = found_[operation];
  if (row.long_bytes == 0) return to.row(operation, row.values);
  to.long_row(
      operation, row.values,
      told_memory_.split(told_bytes(row.long_bytes, row.values.size()), memory_kind::replies));
}

std::size_t key_lookup::tell(std::size_t first, read_sink& to, engine_counts& counts) {
  for (std::size_t i = first; i < found_.size(); ++i) {
    const found& each = found_[i];
    counts.reads.add();
    switch (each.is) {
      case outcome::row:
        counts.rows_read.add();
        tell_row(i, to);
        break;
      case outcome::failed:
        counts.failed(each.why);
        to.failed(i, {.kind = each.why, .message = each.message});
        break;
      case outcome::open:
      case outcome::missing: to.missing(i); break;
    }
    if (to.is_full()) break;
    if (to.is_turn_over()) return i + 1;
  }
  return found_.size();
}

}  // namespace weft::store::mysql

#include <weft/store/mysql/key_lookup.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/store/mysql/server_errors.hpp>
#include <weft/store/mysql/sql_text.hpp>
#include <weft/store/value_copy.hpp>

namespace weft::store::mysql {
namespace {

constexpr std::size_t group_max = 128;
constexpr std::string_view table_has_changed =
    "the table has changed since it was asked for: ask again";

/// So that there are few statements of different lengths.
std::size_t padded(std::size_t keys) noexcept { return std::bit_ceil(keys); }

bool is_same_part(const value& left, const value& right) noexcept {
  if (left.kind() == right.kind()) return left == right;
  const auto is_content = [](value_kind kind) {
    return kind == value_kind::text || kind == value_kind::bytes;
  };
  if (is_content(left.kind()) && is_content(right.kind())) return left.as_text() == right.as_text();
  if (left.kind() == value_kind::int64 && right.kind() == value_kind::uint64)
    return std::cmp_equal(left.as_integer(), right.as_natural());
  if (left.kind() == value_kind::uint64 && right.kind() == value_kind::int64)
    return std::cmp_equal(left.as_natural(), right.as_integer());
  return false;
}

/// Whether texts that differ may be the same to the server.
bool has_text_in_key(const table& of) noexcept {
  return std::ranges::any_of(of.key(),
                             [&](column_position at) { return is_text(of.columns()[at].type); });
}

std::size_t number_in(const value& from) noexcept {
  return from.kind() == value_kind::uint64 ? from.as_natural()
                                           : static_cast<std::size_t>(from.as_integer());
}

}  // namespace

void key_lookup::refuse(std::size_t operation, failure_kind why, std::string_view message) {
  found_[operation] = {.is = outcome::failed, .why = why, .message = room_.copy(message)};
}

task<result<void>> key_lookup::run(connection& by) {
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (found_[i].is != outcome::open) continue;
    const std::vector<std::size_t> asked = next_group(i);
    if (const auto done = co_await look_up(by, asked); !done) co_return done;
  }
  co_return {};
}

/// Those that are open, of the same table and columns as `from`.
std::vector<std::size_t> key_lookup::next_group(std::size_t from) const {
  const key_read& first = operations_[from];
  WEFT_ASSERT(!first.from->key().empty() && first.from->key().size() == first.key.size(),
              "a key has a value for each column of the table's primary key");
  std::vector<std::size_t> made;
  for (std::size_t i = from; i < operations_.size() && made.size() < group_max; ++i) {
    const key_read& each = operations_[i];
    if (found_[i].is == outcome::open && each.from == first.from &&
        std::ranges::equal(each.columns, first.columns))
      made.push_back(i);
  }
  return made;
}

task<result<statement*>> key_lookup::ask(connection& by, std::string_view sql, group asked) {
  parameters_.clear();
  for (std::size_t i = 0; i < padded(asked.size()); ++i) {
    const std::span key = operations_[asked[std::min(i, asked.size() - 1)]].key;
    parameters_.insert(parameters_.end(), key.begin(), key.end());
  }
  auto prepared = co_await by.prepared(sql);
  if (!prepared) co_return prepared;
  if (const auto ran = co_await by.execute(**prepared, parameters_); !ran)
    co_return fail(ran.error());
  co_return prepared;
}

task<result<void>> key_lookup::look_up(connection& by, group asked) {
  const key_read& first = operations_[asked.front()];
  const std::string sql = select_by_keys(*first.from, first.columns, padded(asked.size()));
  const auto ran = co_await ask(by, sql, asked);
  if (!ran) co_return co_await settle(by, ran.error(), asked);
  const std::size_t key_size = first.key.size();
  bool has_rows = false;
  bool is_any_strange = false;  // a row of a key that is spelled like none that was asked for
  while ((*ran)->next()) {
    const std::span row = (*ran)->row();
    has_rows = true;
    bool is_known = false;
    for (const std::size_t each : asked) {
      if (!std::ranges::equal(operations_[each].key, row.first(key_size), &is_same_part)) continue;
      is_known = true;
      keep_row(each, row.subspan(key_size));
    }
    is_any_strange = is_any_strange || !is_known;
  }
  std::vector<std::size_t> rest;
  std::ranges::copy_if(asked, std::back_inserter(rest),
                       [&](std::size_t each) { return found_[each].is == outcome::open; });
  if (rest.empty()) co_return {};
  if (is_any_strange || (has_rows && has_text_in_key(*first.from)))
    co_return co_await look_up_numbered(by, rest);
  end_open(rest);
  co_return {};
}

task<result<void>> key_lookup::look_up_numbered(connection& by, group asked) {
  const key_read& first = operations_[asked.front()];
  const std::string sql = select_by_numbered_keys(*first.from, first.columns, padded(asked.size()));
  const auto ran = co_await ask(by, sql, asked);
  if (!ran) co_return co_await settle(by, ran.error(), asked);
  while ((*ran)->next()) {
    const std::span row = (*ran)->row();
    const std::size_t number = number_in(row.front());
    if (number < asked.size()) keep_row(asked[number], row.subspan(1));
  }
  end_open(asked);
  co_return {};
}

task<result<void>> key_lookup::settle(connection& by, error why, group asked) {
  if (by.server_error() == 0) co_return fail(why);
  if (is_of_charsets(by.server_error())) {
    // One of the keys has characters that its column cannot have: it alone has no row.
    if (asked.size() == 1) {
      end_open(asked);
      co_return {};
    }
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (const auto done = co_await look_up(by, asked.subspan(i, 1)); !done) co_return done;
    co_return {};
  }
  if (!by.is_open()) co_return fail(why);  // it shuts down: another may know
  const failure told = by.last_failure();
  is_stale_ = is_stale_ || told.kind == failure_kind::schema_changed;
  const std::string_view message = room_.copy(told.message);
  for (const std::size_t each : asked)
    found_[each] = {.is = outcome::failed, .why = told.kind, .message = message};
  co_return {};
}

void key_lookup::keep_row(std::size_t operation, std::span<const value> values) {
  found& of = found_[operation];
  if (of.is == outcome::row) {  // the key is that of a row no longer
    is_stale_ = true;
    of = {.is = outcome::failed, .why = failure_kind::schema_changed, .message = table_has_changed};
  }
  if (of.is != outcome::open) return;
  std::size_t bytes = 0;
  of = {.is = outcome::row, .values = copy_values(values, room_, bytes)};
}

void key_lookup::end_open(group asked) {
  for (const std::size_t each : asked)
    if (found_[each].is == outcome::open) found_[each].is = outcome::missing;
}

void key_lookup::tell(read_sink& to, engine_counts& counts) const {
  counts.reads.add(found_.size());
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const found& each = found_[i];
    switch (each.is) {
      case outcome::row:
        counts.rows_read.add();
        to.row(i, each.values);
        break;
      case outcome::failed:
        counts.failed(each.why);
        to.failed(i, {.kind = each.why, .message = each.message});
        break;
      case outcome::open:
      case outcome::missing: to.missing(i); break;
    }
  }
}

}  // namespace weft::store::mysql

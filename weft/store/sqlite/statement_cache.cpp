#include <weft/store/sqlite/statement_cache.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <weft/store/engine.hpp>
#include <weft/store/sqlite/sql_text.hpp>

namespace weft::store::sqlite {
namespace {

std::uint64_t hash_of(const table& from, std::span<const column_position> columns) noexcept {
  constexpr std::uint64_t prime = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(&from) * prime;
  for (const column_position at : columns) hash = (hash ^ (hash >> 29) ^ at) * prime;
  return hash ^ (hash >> 32);
}

/// A row of many columns may be a long one though none of its values is.
int value_bytes_max(std::size_t columns) noexcept {
  constexpr std::size_t row_bytes_max = 16 * long_row_bytes;
  return static_cast<int>(
      std::min(long_row_bytes, row_bytes_max / std::max<std::size_t>(columns, 1)));
}

}  // namespace

bool cached_statement::is_for(const table& wanted,
                              std::span<const column_position> of) const noexcept {
  return from == &wanted && std::ranges::equal(columns, of);
}

cached_statement* statement_cache::find_other(connection& by, const table& from,
                                              std::span<const column_position> columns) noexcept {
  const auto found = by_hash_.find(hash_of(from, columns));
  if (found == by_hash_.end() || !found->second->is_for(from, columns)) return nullptr;
  last_ = found->second.get();
  bound_values(by, last_->value_bytes_max);
  by_use_.erase(*last_);
  by_use_.push_back(*last_);
  return last_;
}

cached_statement* statement_cache::make(connection& by, const table& from,
                                        std::span<const column_position> columns) {
  last_ = nullptr;                                    // the bound is not its any more
  bound_values(by, std::numeric_limits<int>::max());  // the schema has longer texts
  statement prepared = by.prepare(select_row(from, columns));
  if (prepared == nullptr) return nullptr;
  auto made =
      std::make_unique<cached_statement>(&from, std::vector(columns.begin(), columns.end()),
                                         std::move(prepared), value_bytes_max(columns.size()));
  const std::uint64_t hash = hash_of(from, columns);
  // Another of the same hash makes room.
  if (const auto same = by_hash_.find(hash); same != by_hash_.end()) forget(*same->second);
  while (by_hash_.size() >= most_ && !by_use_.empty()) forget(*by_use_.front());
  cached_statement& kept = *made;
  by_hash_[hash] = std::move(made);  // which may have no memory: it is in no list yet
  by_use_.push_back(kept);
  bound_values(by, kept.value_bytes_max);
  return last_ = &kept;
}

void statement_cache::bound_values(connection& of, int bytes_max) noexcept {
  if (std::exchange(value_bytes_max_, bytes_max) == bytes_max) return;
  sqlite3_limit(of.get(), SQLITE_LIMIT_LENGTH, bytes_max);
}

void statement_cache::forget(cached_statement& gone) noexcept {
  by_use_.erase(gone);
  if (last_ == &gone) last_ = nullptr;
  by_hash_.erase(hash_of(*gone.from, gone.columns));
}

void statement_cache::clear() noexcept {
  while (by_use_.pop_front() != nullptr) {}
  last_ = nullptr;
  by_hash_.clear();
}

}  // namespace weft::store::sqlite

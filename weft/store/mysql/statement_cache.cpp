#include <weft/store/mysql/statement_cache.hpp>

#include <algorithm>
#include <utility>

namespace weft::store::mysql {

statement* statement_cache::find(std::string_view text) noexcept {
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return nullptr;
  kept_statement& known = *found->second;
  by_use_.erase(known);
  by_use_.push_back(known);
  return &known.prepared;
}

statement& statement_cache::keep(statement made) {
  if (most_ > 0) leave(most_ - 1);
  auto kept = std::make_unique<kept_statement>(std::move(made));
  kept_statement& known = *kept;
  by_use_.push_back(known);
  by_text_.emplace(known.prepared.text(), std::move(kept));
  return known.prepared;
}

bool statement_cache::shrink() noexcept {
  if (by_text_.empty()) return false;
  leave(by_text_.size() / 2);
  most_ = std::max<std::size_t>(1, by_text_.size());
  return true;
}

void statement_cache::leave(std::size_t statements) noexcept {
  while (by_text_.size() > statements) {
    const kept_statement& oldest = *by_use_.pop_front();
    by_text_.erase(by_text_.find(oldest.prepared.text()));
  }
}

void statement_cache::clear() noexcept {
  while (by_use_.pop_front() != nullptr) {}
  by_text_.clear();
}

}  // namespace weft::store::mysql

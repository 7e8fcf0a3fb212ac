#include <weft/store/mysql/statement_cache.hpp>

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

statement& statement_cache::keep(std::string text, statement made) {
  while (by_text_.size() >= most_) {
    kept_statement* const oldest = by_use_.pop_front();
    if (oldest == nullptr) break;
    by_text_.erase(std::string_view{oldest->text});
  }
  auto kept = std::make_unique<kept_statement>(std::move(text), std::move(made));
  kept_statement& known = *kept;
  by_use_.push_back(known);
  by_text_.emplace(known.text, std::move(kept));
  return known.prepared;
}

void statement_cache::clear() noexcept {
  while (by_use_.pop_front() != nullptr) {}
  by_text_.clear();
}

}  // namespace weft::store::mysql

// The column names of one request: is one there twice, is another among them.
//
// Contract: a few are compared one by one, as most requests have; more are sorted first, since
// nobody says that a client's are few. Lies in the memory in use (request_memory.hpp), and views
// the names.
//
//   const name_set filtered{*asked.filters};
//   if (filtered.has_twins() || filtered.contains("id")) ...
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <apps/weftd/request_memory.hpp>

namespace weftd {

class name_set {
 public:
  /// Of items that have a `column`.
  template <class Items>
  explicit name_set(const Items& items) {
    names_.reserve(items.size());
    for (const auto& each : items) names_.push_back(each.column->view());
    if (!is_small()) std::ranges::sort(names_);
  }

  [[nodiscard]] bool has_twins() const noexcept {
    if (!is_small()) return std::ranges::adjacent_find(names_) != names_.end();
    for (auto each = names_.begin(); each != names_.end(); ++each)
      if (std::find(names_.begin(), each, *each) != each) return true;
    return false;
  }
  [[nodiscard]] bool contains(std::string_view name) const noexcept {
    return is_small() ? std::ranges::contains(names_, name)
                      : std::ranges::binary_search(names_, name);
  }

 private:
  static constexpr std::size_t few = 8;
  [[nodiscard]] bool is_small() const noexcept { return names_.size() <= few; }

  request_vector<std::string_view> names_;
};

}  // namespace weftd

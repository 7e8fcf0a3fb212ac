#include <weft/store/scan.hpp>

#include <algorithm>

namespace weft::store {

std::vector<column_position> order_of(const scan_request& request) {
  std::vector<column_position> order;
  if (request.index) order = request.from->indexes()[*request.index].columns;
  for (const column_position at : request.from->key())
    if (!std::ranges::contains(order, at)) order.push_back(at);
  return order;
}

bool is_within_bounds(const scan_request& request) noexcept {
  const auto is_shallow = [](this auto&& self, const filter* at, unsigned left) -> bool {
    if (at == nullptr) return true;
    return left > 0 && self(at->left, left - 1) && self(at->right, left - 1);
  };
  return request.ranges.size() <= key_ranges_max && is_shallow(request.where, filter_depth_max);
}

}  // namespace weft::store

#include <weft/telemetry/snapshot.hpp>

#include <algorithm>

namespace weft::telemetry {

std::string_view to_string(series_kind kind) noexcept {
  switch (kind) {
    case series_kind::counter: return "counter";
    case series_kind::gauge: return "gauge";
    case series_kind::histogram: break;
  }
  return "histogram";
}

const series* snapshot::find(std::string_view name, std::initializer_list<label> labels) const {
  const auto has_all = [labels](const series& each) {
    return std::ranges::all_of(labels, [&each](const label& wanted) {
      return std::ranges::any_of(each.labels, [&wanted](const auto& has) {
        return has.first == wanted.name && has.second == wanted.value;
      });
    });
  };
  const auto found = std::ranges::find_if(all, [&](const series& each) {
    return each.name == name && each.labels.size() == labels.size() && has_all(each);
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace weft::telemetry

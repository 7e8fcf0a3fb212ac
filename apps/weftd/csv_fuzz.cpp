// Any text as CSV: its records follow each other to its end, are the same when the text comes in
// pieces, and are within it.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <apps/weftd/csv.hpp>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  const std::size_t piece = data[0];
  weft::store::scratch room;
  std::vector<weftd::csv_field> fields;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const weftd::csv_extent found = weftd::find_record(rest, ',', true);
    require(found.state != weftd::csv_state::incomplete && found.size > 0 &&
            found.size <= rest.size() && found.lines > 0);
    const weftd::csv_extent early = weftd::find_record(rest.substr(0, piece), ',', false);
    require(early.state == weftd::csv_state::incomplete ||
            (early.state == found.state && early.size == found.size));
    if (found.state == weftd::csv_state::whole)
      weftd::split_record(rest.substr(0, found.size), ',', room, fields);
    at += found.size;
  }
  return 0;
}

// A Range field: what is to be sent lies in the representation, is disjoint, and is never more than
// it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <weft/http/byte_ranges.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t bytes = 0;
  if (size < sizeof bytes) return 0;
  std::memcpy(&bytes, data, sizeof bytes);
  bytes >>= bytes % 64;
  const std::string_view field{reinterpret_cast<const char*>(data) + sizeof bytes,
                               size - sizeof bytes};
  const weft::http::range_set found = weft::http::parse_ranges(field, bytes);
  const bool is_satisfiable = found.outcome == weft::http::range_outcome::satisfiable;
  if (is_satisfiable != (found.count != 0)) std::abort();
  std::uint64_t left = bytes;
  for (const auto each : found.all()) {
    if (each.first > each.last || each.last >= bytes || each.size_bytes() > left) std::abort();
    left -= each.size_bytes();
    for (const auto other : found.all())
      if (&other != &each && !(each == other) && each.first <= other.last &&
          other.first <= each.last)
        std::abort();
  }
  return 0;
}

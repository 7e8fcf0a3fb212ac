// A coded body from outside, under one coding or two: however it is cut it says the same, and is
// never more than the limits. The first bytes choose the codings and the cuts.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/http/body_decoding.hpp>

namespace {

using namespace weft::http;

constexpr decoding_limits body_bounds{.bytes = 100'000, .ratio = 50};

std::string decode_body(const body_codings& codings, std::string_view bytes, std::size_t cut) {
  auto by = body_decoding::make(codings, body_bounds);
  if (!by) std::abort();
  std::string all;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, cut);
    bytes.remove_prefix(piece.size());
    for (std::string_view got = by->next(piece); !got.empty(); got = by->next(piece)) all += got;
    if (by->has_failed()) return "failed";
    if (!piece.empty()) std::abort();  // nothing came of it, and it was not taken
  }
  if (all.size() > body_bounds.bytes) std::abort();
  return all + (by->is_finished() ? " whole" : " cut");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t choices = 3;
  if (size < choices) return 0;
  const body_codings codings{.applied = {static_cast<content_coding>(1 + data[0] % 4),
                                         static_cast<content_coding>(1 + data[1] % 4)},
                             .count = 1U + data[0] / 128U};
  const std::string_view bytes{reinterpret_cast<const char*>(data) + choices, size - choices};
  const std::string whole = decode_body(codings, bytes, bytes.size());
  if (decode_body(codings, bytes, 1U + data[2]) != whole) std::abort();
  return 0;
}

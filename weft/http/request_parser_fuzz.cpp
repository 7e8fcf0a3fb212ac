// Whatever arrives, and however it is cut: no crash, no byte read that is not there, and always the
// same outcome, whichever variant scans. The first bytes of the input choose the limits and the
// cuts, the rest is what the client sends.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <weft/http/scan.hpp>

#include <tests/conformance/message_outcome.hpp>

namespace {

using weft::http::limits;

// Small ones, so that a short input can reach them.
limits choose_limits(unsigned char choice) {
  limits bounds;
  if ((choice & 1) != 0) bounds.request_line_bytes = 24;
  if ((choice & 2) != 0) bounds.head_bytes = 96;
  if ((choice & 4) != 0) bounds.headers = 2;
  if ((choice & 8) != 0) bounds.body_bytes = 8;
  if ((choice & 16) != 0) bounds.chunk_extension_bytes = 6;
  if ((choice & 32) != 0) bounds.trailer_bytes = 16;
  return bounds;
}

void expect_equal(const std::string& one, const std::string& other) {
  if (one != other) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t choices = 5;
  if (size < choices) return 0;
  const limits bounds = choose_limits(data[0]);
  const std::string_view bytes{reinterpret_cast<const char*>(data) + choices, size - choices};
  const std::string whole = weft::http::describe_message(bytes, {}, bounds);

  for (const weft::http::scan::variant each : weft::http::scan::variants()) {
    weft::http::scan::use(each);  // the last is the best, and stays
    expect_equal(weft::http::describe_message(bytes, {}, bounds), whole);
  }

  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < choices; ++i) cuts.push_back(bytes.size() * data[i] / 256);
  std::ranges::sort(cuts);
  expect_equal(weft::http::describe_message(bytes, cuts, bounds), whole);

  cuts.clear();
  const std::size_t stride = 1 + bytes.size() / 256 + data[1] % 4;
  for (std::size_t cut = data[2] % stride; cut < bytes.size(); cut += stride) cuts.push_back(cut);
  expect_equal(weft::http::describe_message(bytes, cuts, bounds), whole);
  return 0;
}

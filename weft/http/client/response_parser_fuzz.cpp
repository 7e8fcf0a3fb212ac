// Whatever a server sends, and however it is cut: no crash, no byte read that is not there, and
// always the same outcome, whichever variant scans. The first bytes of the input choose what was
// asked, the limits and the cuts, the rest is what the server sends.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <weft/http/scan.hpp>

#include <tests/conformance/response_outcome.hpp>

namespace {

using weft::http::describe_response;
using weft::http::response_reading;

// Small ones, so that a short input can reach them.
response_reading choose(unsigned char limits, unsigned char asked) {
  response_reading how;
  if ((limits & 1) != 0) how.bounds.request_line_bytes = 24;
  if ((limits & 2) != 0) how.bounds.head_bytes = 96;
  if ((limits & 4) != 0) how.bounds.headers = 2;
  if ((limits & 8) != 0) how.bounds.body_bytes = 8;
  if ((limits & 16) != 0) how.bounds.chunk_extension_bytes = 6;
  if ((limits & 32) != 0) how.bounds.trailer_bytes = 16;
  how.closes = (limits & 64) != 0;
  how.asked = static_cast<weft::http::method>(asked % weft::http::method_count);
  return how;
}

void expect_equal(const std::string& one, const std::string& other) {
  if (one != other) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t choices = 6;
  if (size < choices) return 0;
  const response_reading how = choose(data[0], data[1]);
  const std::string_view bytes{reinterpret_cast<const char*>(data) + choices, size - choices};
  const std::string whole = describe_response(bytes, {}, how);

  for (const weft::http::scan::variant each : weft::http::scan::variants()) {
    weft::http::scan::use(each);  // the last is the best, and stays
    expect_equal(describe_response(bytes, {}, how), whole);
  }

  std::vector<std::size_t> cuts;
  for (std::size_t i = 2; i < choices; ++i) cuts.push_back(bytes.size() * data[i] / 256);
  std::ranges::sort(cuts);
  expect_equal(describe_response(bytes, cuts, how), whole);

  cuts.clear();
  const std::size_t stride = 1 + bytes.size() / 256 + data[2] % 4;
  for (std::size_t cut = data[3] % stride; cut < bytes.size(); cut += stride) cuts.push_back(cut);
  expect_equal(describe_response(bytes, cuts, how), whole);
  return 0;
}

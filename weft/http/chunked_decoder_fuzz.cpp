// A chunked body, however it is cut: no crash, always the same outcome, and never more content than
// the limit. The first bytes of the input choose the limits and the cuts, the rest is the body.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <tests/conformance/message_outcome.hpp>

namespace {

// "incomplete" tells how much content there is by then, so it can be compared as well.
void expect_equal(const std::string& one, const std::string& other) {
  if (one != other) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t choices = 4;
  if (size < choices) return 0;
  weft::http::limits bounds;
  bounds.body_bytes = data[0];
  bounds.chunk_extension_bytes = data[1] / 8;
  bounds.trailer_bytes = data[1] % 32;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + choices, size - choices};
  const std::string whole = weft::http::describe_chunked(bytes, {}, bounds);

  std::vector<std::size_t> cuts = {bytes.size() * data[2] / 256, bytes.size() * data[3] / 256};
  std::ranges::sort(cuts);
  expect_equal(weft::http::describe_chunked(bytes, cuts, bounds), whole);

  cuts.clear();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) cuts.push_back(cut);
  expect_equal(weft::http::describe_chunked(bytes, cuts, bounds), whole);

  weft::http::chunked_decoder decoder;
  std::string content;
  (void)decoder.decode(bytes, content, bounds);
  if (content.size() > bounds.body_bytes) std::abort();
  return 0;
}

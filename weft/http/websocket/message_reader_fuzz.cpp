// Frames, however they are cut: no crash, always the same outcome, and no message beyond the limit.
// The first bytes of the input choose who reads, the limit and the cuts, the rest is what comes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <tests/conformance/websocket_outcome.hpp>

namespace {

void expect_same(const std::string& one, const std::string& other) {
  if (one != other) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft::http::ws;
  constexpr std::size_t choices = 4;
  if (size < choices) return 0;
  const frame_reading how{.self = (data[0] & 1U) != 0 ? role::client : role::server,
                          .inflates = (data[0] & 2U) != 0,
                          .keeps_context = (data[0] & 4U) != 0,
                          .message_bytes = std::size_t{data[1]} * data[1]};
  const std::string_view bytes{reinterpret_cast<const char*>(data) + choices, size - choices};
  const std::string whole = describe_frames(bytes, {}, how);

  std::vector<std::size_t> cuts = {bytes.size() * data[2] / 256, bytes.size() * data[3] / 256};
  std::ranges::sort(cuts);
  expect_same(describe_frames(bytes, cuts, how), whole);

  cuts.clear();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) cuts.push_back(cut);
  expect_same(describe_frames(bytes, cuts, how), whole);
  return 0;
}

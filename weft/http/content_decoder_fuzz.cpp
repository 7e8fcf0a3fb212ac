// Coded content from outside: however it is cut it says the same, and is never more than the
// limits. The first bytes of the input choose the coding and the cuts, the rest is the content.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <weft/http/content_decoder.hpp>

namespace {

using namespace weft::http;

constexpr decoding_limits bounds{.bytes = 100'000, .ratio = 50};

struct outcome {
  std::string text;
  bool is_finished = false;
  friend bool operator==(const outcome&, const outcome&) = default;
};

outcome decode(content_coding coding, std::string_view bytes, std::size_t piece,
               std::size_t room_bytes) {
  auto decoder = content_decoder::make(coding, bounds);
  if (!decoder) std::abort();
  outcome all;
  std::vector<char> room(room_bytes);
  for (;;) {
    const coding_progress got = decoder->decode(bytes.substr(0, piece), room);
    all.text.append(room.data(), got.written_bytes);
    if (got.status == coding_status::failed) return {};
    bytes.remove_prefix(got.consumed_bytes);
    if (bytes.empty() && got.status != coding_status::need_room) break;
    if (got.consumed_bytes + got.written_bytes == 0) std::abort();
  }
  if (all.text.size() > bounds.bytes) std::abort();
  all.is_finished = decoder->is_finished();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t choices = 3;
  if (size < choices) return 0;
  const auto coding = static_cast<content_coding>(1 + data[0] % 4);
  const std::string_view bytes{reinterpret_cast<const char*>(data) + choices, size - choices};
  const outcome whole = decode(coding, bytes, bytes.size(), bounds.bytes + 1);
  if (!(decode(coding, bytes, 1u + data[1], 64u + data[2]) == whole)) std::abort();
  return 0;
}

// Messages come back from compression as they went in, one after the other, in every window; and
// whatever is inflated stays within its limit. The first byte chooses how, the second where one
// message ends and the next begins.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/http/websocket/message_deflate.hpp>
#include <weft/http/websocket/message_memory.hpp>

namespace {

using weft::http::ws::message_deflater;
using weft::http::ws::message_inflater;
using weft::http::ws::message_memory;

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t choices = 2;
  if (size < choices) return 0;
  const int window_bits = 9 + (data[0] & 7U) % 7;
  const bool keeps_context = (data[0] & 8U) != 0;
  const std::string_view all{reinterpret_cast<const char*>(data) + choices, size - choices};
  const std::size_t cut = all.size() * data[1] / 256;
  weft::buffer_pool pool{64};

  message_deflater deflater{window_bits, keeps_context};
  message_inflater inflater{window_bits, keeps_context};
  for (const std::string_view message : {all.substr(0, cut), all.substr(cut), all}) {
    std::string shorter;
    expect(deflater.deflate(message, shorter).has_value());
    message_memory back{pool};
    expect(inflater.inflate(shorter, back, message.size()).has_value());
    expect(back.text() == message);
  }

  message_inflater doubtful{window_bits, keeps_context};
  for (const std::string_view payload : {all.substr(0, cut), all.substr(cut)}) {
    constexpr std::size_t most_bytes = 10'000;
    message_memory out{pool};
    if (doubtful.inflate(payload, out, most_bytes)) expect(out.size() <= most_bytes);
  }
  return 0;
}

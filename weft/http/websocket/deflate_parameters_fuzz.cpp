// Offers and answers of permessage-deflate: no crash, and what is agreed on is what can be done.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <weft/http/websocket/deflate_parameters.hpp>

namespace {

bool can_be_done(const weft::http::ws::deflate_parameters& agreed) {
  const auto fits = [](int bits) { return bits >= 9 && bits <= 15; };
  return fits(agreed.server_max_window_bits) && fits(agreed.client_max_window_bits);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft::http::ws;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const bool context : {false, true}) {
    const deflate_wishes own{.context_takeover = context};
    const auto accepted = accept_deflate(text, own);
    if (accepted && !can_be_done(*accepted)) std::abort();
    // What a server of ours answers, a client of ours that offers all can read.
    if (accepted && !read_deflate_answer(accepted->text(), {.context_takeover = true}))
      std::abort();
    if (text.empty()) continue;
    const auto answered = read_deflate_answer(text, own);
    if (answered && answered->client_max_window_bits < 9) std::abort();
  }
  return 0;
}

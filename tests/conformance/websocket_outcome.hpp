// What a message_reader makes of bytes, as text that can be compared.
//
// Contract: reads on until the bytes are used up, the connection is to be failed, or a close frame
// has come, which nothing may follow. One line for each event: `text Hello`, `binary 00ff`,
// `ping abc`, `pong`, `close 1000 reason`, `fail 1002: why`; long contents by their size. `cuts`
// say where the bytes are given in pieces; each piece lies in memory of its own.
//
//   describe_frames("\x81\x00", {}, {});   // "text \n"
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/http/websocket/message_deflate.hpp>
#include <weft/http/websocket/message_reader.hpp>

namespace weft::http::ws {

struct frame_reading {
  role self = role::server;
  bool inflates = false;
  bool keeps_context = false;
  std::size_t message_bytes = 1024 * 1024;
};

inline std::string describe_content(bool is_text, std::string_view content) {
  constexpr std::size_t shown_most_bytes = 64;
  if (content.size() > shown_most_bytes) return weft::format("of {} bytes", content.size());
  if (is_text) return std::string{content};
  std::string hex;
  for (const char byte : content) hex += weft::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

/// Of what next() has found; the message is taken out of the reader, as its users do.
inline std::string describe_event(message_reader& reader, read_event what, buffer_pool& pool) {
  switch (what) {
    case read_event::message: {
      message_memory kept{pool};
      (void)reader.take_message(kept);
      const websocket_message seen = reader.message();
      return (seen.is_text() ? "text " : "binary ") + describe_content(seen.is_text(), seen.data);
    }
    case read_event::ping: return "ping " + std::string{reader.control()};
    case read_event::pong: return "pong " + std::string{reader.control()};
    case read_event::close:
      return weft::format("close {} {}", std::to_underlying(reader.closing().code),
                          reader.closing().text);
    case read_event::failed:
      return weft::format("fail {}: {}", std::to_underlying(reader.fault().code),
                          reader.fault().reason);
    case read_event::nothing: break;
  }
  return {};
}

inline std::string describe_frames(std::string_view bytes, std::span<const std::size_t> cuts,
                                   const frame_reading& how) {
  buffer_pool pool{64};
  message_inflater inflater{15, how.keeps_context};
  message_reader reader{how.self, how.message_bytes, pool, how.inflates ? &inflater : nullptr};
  std::string outcome;
  for (std::size_t at = 0, cut = 0; at != bytes.size();) {
    while (cut != cuts.size() && cuts[cut] <= at) ++cut;
    const std::size_t end = cut == cuts.size() ? bytes.size() : std::min(cuts[cut], bytes.size());
    std::vector<char> piece{bytes.begin() + static_cast<std::ptrdiff_t>(at),
                            bytes.begin() + static_cast<std::ptrdiff_t>(end)};
    at = end;
    for (std::span<char> rest = piece;;) {
      const read_progress step = reader.next(rest);
      rest = rest.subspan(step.consumed_bytes);
      if (step.what == read_event::nothing) break;
      outcome += describe_event(reader, step.what, pool) + "\n";
      if (step.what == read_event::failed || step.what == read_event::close) return outcome;
    }
  }
  return outcome;
}

}  // namespace weft::http::ws

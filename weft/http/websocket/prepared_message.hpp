// A message that many WebSockets of a shard are sent: framed once, and compressed once for each way
// of compressing that they can share.
//
// Contract: internal to http. For servers, whose frames are not masked. `what` outlives it.
// deflated() gives nothing for what does not get shorter. One shard.
//
//   prepared_message news{{message_kind::text, text}};
//   stream.append(news.plain());
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <weft/http/websocket/deflate_parameters.hpp>
#include <weft/http/websocket/websocket_message.hpp>

namespace weft::http::ws {

class prepared_message {
 public:
  explicit prepared_message(const websocket_message& what) noexcept : what_{what} {}

  [[nodiscard]] const websocket_message& what() const noexcept { return what_; }
  /// The frame.
  [[nodiscard]] std::string_view plain();
  /// The frame, compressed for a window of so many bits, by itself. Empty: no shorter.
  [[nodiscard]] std::string_view deflated(int window_bits);

 private:
  struct variant {
    std::string frame;
    bool is_made = false;
  };
  static constexpr std::size_t windows =
      deflate_parameters::most_window_bits - deflate_parameters::least_window_bits + 1;

  websocket_message what_;
  std::string plain_;
  std::array<variant, windows> deflated_;
};

}  // namespace weft::http::ws

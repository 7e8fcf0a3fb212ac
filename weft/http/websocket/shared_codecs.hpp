// The compressors that the WebSockets of a shard share, and what both ends must share to do so.
//
// Contract: internal to http. Without context takeover a compressor serves one message after the
// other, whosever they are; there is one for each size of window, made when it is first needed.
// text() is where a message is compressed into before it is framed. One shard.
//
//   shared_codecs& codecs = shared_codecs::of_this_thread();
//   codecs.deflater(15).deflate(text, codecs.text);
#pragma once

#include <array>
#include <memory>
#include <string>

#include <weft/base/thread_owned.hpp>
#include <weft/http/websocket/deflate_parameters.hpp>
#include <weft/http/websocket/message_deflate.hpp>

namespace weft::http::ws {

class shared_codecs {
 public:
  [[nodiscard]] static shared_codecs& of_this_thread() {
    return thread_owned<shared_codecs>::here();
  }

  [[nodiscard]] message_deflater& deflater(int window_bits) {
    auto& made = deflaters_.at(
        static_cast<std::size_t>(window_bits - deflate_parameters::least_window_bits));
    if (made == nullptr) made = std::make_unique<message_deflater>(window_bits, false);
    return *made;
  }
  /// The largest window reads what was made with any.
  [[nodiscard]] message_inflater& inflater() noexcept { return inflater_; }

  /// Keeps what a usual message takes, and no more.
  [[nodiscard]] std::string& text() noexcept {
    constexpr std::size_t kept_most_bytes = 64 * 1024;
    if (text_.capacity() > kept_most_bytes) text_ = {};
    return text_;
  }

 private:
  static constexpr std::size_t windows =
      deflate_parameters::most_window_bits - deflate_parameters::least_window_bits + 1;
  std::array<std::unique_ptr<message_deflater>, windows> deflaters_;
  message_inflater inflater_{deflate_parameters::most_window_bits, false};
  std::string text_;
};

}  // namespace weft::http::ws

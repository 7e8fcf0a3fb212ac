// Messages made shorter, and long again (RFC 7692 section 7.2), by zlib.
//
// Problem: a compressed message is as long as its sender pleases once it is inflated, and zlib's
// memory (some 260 KiB to deflate, 45 KiB to inflate) is more than all else of a connection.
// Contract: internal to http. Whole messages: without context takeover one of each serves all
// connections of a shard in turn, since nothing is left of a message afterwards; with it, each
// connection has its own. inflate() gives at most `most_bytes`; more is errc::limit_exceeded, what
// is no DEFLATE data errc::protocol_error. Who has failed stays so. Both take their memory with the
// first message; errc::exhausted if there is none. One shard.
//
//   message_deflater shared{15, false};
//   if (auto made = shared.deflate(text, out); made) send(out);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>

namespace weft::http::ws {

class message_memory;

class message_deflater {
 public:
  message_deflater(int window_bits, bool keeps_context) noexcept;
  message_deflater(const message_deflater&) = delete;
  message_deflater& operator=(const message_deflater&) = delete;
  ~message_deflater();

  [[nodiscard]] int window_bits() const noexcept { return window_bits_; }
  /// Replaces `out` by the payload of a frame.
  [[nodiscard]] result<void> deflate(std::string_view message, std::string& out);

 private:
  struct state;
  std::unique_ptr<state> state_;
  std::int8_t window_bits_;
  bool keeps_context_;
};

class message_inflater {
 public:
  message_inflater(int window_bits, bool keeps_context) noexcept;
  message_inflater(const message_inflater&) = delete;
  message_inflater& operator=(const message_inflater&) = delete;
  ~message_inflater();

  /// Appends to `out` what a whole message means.
  [[nodiscard]] result<void> inflate(std::string_view payload, message_memory& out,
                                     std::size_t most_bytes);

 private:
  struct state;
  [[nodiscard]] result<void> feed(std::string_view payload, message_memory& out,
                                  std::size_t most_bytes);

  std::unique_ptr<state> state_;
  std::int8_t window_bits_;
  bool keeps_context_;
};

}  // namespace weft::http::ws

// Takes the framing off a response's body: what of the bytes is content, and where it ends.
//
// Problem: content that was cut off must never be taken for whole, and what stands behind it never
// for content. Contract: begin() with what the head says, then next() with the bytes that come: it
// shows the first content in them where it lies, and says how many bytes that takes with what
// frames it. The end of the connection completes a body only where nothing else ends it, and a
// truncated one is indistinguishable there (RFC 9112 section 8): ended() says which it was. The
// pieces joined do not depend on how the bytes were cut. Beyond limits::body_bytes of content it
// fails. Allocates nothing. Single thread.
//
//   response_body body;
//   body.begin(head.framing(asked), head.content_length().value_or(0));
//   while (!body.is_complete()) {
//     const body_piece piece = body.next(received, bounds);
//     received.remove_prefix(piece.consumed_bytes);
//     ...
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/http/chunked_decoder.hpp>
#include <weft/http/client/response_head.hpp>
#include <weft/http/fault.hpp>
#include <weft/http/limits.hpp>

namespace weft::http {

enum class body_status : std::uint8_t { incomplete, complete, failed };

struct body_piece {
  body_status status;
  std::size_t consumed_bytes;  // with what frames the content
  std::string_view content;    // empty: there was none in all of the input, or none is left
};

class response_body {
 public:
  /// `length_bytes`: with response_framing::length. A tunnel has no end that HTTP knows of: all
  /// that comes is content.
  void begin(response_framing how, std::uint64_t length_bytes) noexcept;

  /// Not after `complete` or `failed`.
  [[nodiscard]] body_piece next(std::string_view input, const limits& bounds) noexcept;
  /// The connection has ended in good order. Whether the body is whole with that.
  [[nodiscard]] bool ended() noexcept;

  [[nodiscard]] bool is_complete() const noexcept { return status_ == body_status::complete; }
  /// After `failed`. Its status is 502: what a gateway answers then.
  [[nodiscard]] protocol_fault fault() const noexcept;
  /// Whether that was a bound, and not what the bytes are.
  [[nodiscard]] bool is_too_large() const noexcept;

 private:
  [[nodiscard]] body_piece next_chunked(std::string_view input, const limits& bounds) noexcept;

  chunked_decoder chunks_{chunked_decoder::sizes::padded};
  std::uint64_t left_ = 0;   // with a length
  std::uint64_t given_ = 0;  // content so far, unless it comes in chunks
  response_framing framing_ = response_framing::none;
  body_status status_ = body_status::complete;
};

}  // namespace weft::http

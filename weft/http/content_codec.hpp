// One stream through a compression library: what an encoder and a decoder have in common.
//
// Contract: step() reads from `input` and writes into `room`, as much as goes, and says why it
// stopped. A library's own memory is taken when a codec is made, and while it works, and given back
// with it. What ends in _bytes below is the most that it takes, as measured. Single thread.
// Private to weft/http's sources, but for the two types that users see.
//
//   auto codec = make_gzip_decoder();
//   coding_progress got = codec->step(received, room, feed::more);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace weft::http {

enum class coding_status : std::uint8_t {
  need_input,  // all of `input` was taken
  need_room,   // `room` is full, and there is more to come: call again with what was not taken
  finished,    // the coded text is whole
  failed,
};

struct coding_progress {
  coding_status status;
  std::size_t consumed_bytes;
  std::size_t written_bytes;
};

// What comes after `input`: more of it; nothing for a while, so that all must go out; nothing.
enum class feed : std::uint8_t { more, flush, end };

// How much time may be spent for fewer bytes: of replies as they are made, or of files made ahead.
enum class effort : std::uint8_t { fast, balanced, smallest };

namespace detail {

class content_codec {
 public:
  content_codec() = default;
  content_codec(const content_codec&) = delete;
  content_codec& operator=(const content_codec&) = delete;
  virtual ~content_codec() = default;

  // A decoder looks at no `how`.
  [[nodiscard]] virtual coding_progress step(std::string_view input, std::span<char> room,
                                             feed how) noexcept = 0;
};

using codec_pointer = std::unique_ptr<content_codec>;

// All of them: nullptr where the library has no memory.
[[nodiscard]] codec_pointer make_gzip_encoder(effort wanted);
[[nodiscard]] codec_pointer make_gzip_decoder();
// The zlib format (RFC 1950), which is what the coding "deflate" means.
[[nodiscard]] codec_pointer make_deflate_encoder(effort wanted);
[[nodiscard]] codec_pointer make_deflate_decoder();
[[nodiscard]] codec_pointer make_brotli_encoder(effort wanted);
[[nodiscard]] codec_pointer make_brotli_decoder();
[[nodiscard]] codec_pointer make_zstd_encoder(effort wanted);
[[nodiscard]] codec_pointer make_zstd_decoder();

constexpr std::size_t zlib_encoder_bytes = 272 * 1024;
constexpr std::size_t zlib_decoder_bytes = 48 * 1024;
/// Of what a client has sent: its window is up to 16 MiB.
constexpr std::size_t brotli_decoder_bytes = std::size_t{17} << 20U;
constexpr std::size_t zstd_decoder_bytes = std::size_t{9} << 20U;
[[nodiscard]] std::size_t brotli_encoder_bytes(effort wanted) noexcept;
[[nodiscard]] std::size_t zstd_encoder_bytes(effort wanted) noexcept;

}  // namespace detail

}  // namespace weft::http

// Takes the content coding off what a client sends, and bombs out of it.
//
// Problem: a kilobyte can mean a gigabyte. Contract: decode() writes into memory of the caller's,
// so that no call makes more than `room` has; all calls together make at most `bytes`, and beyond
// the first mebibyte never more than `ratio` times what was read, so that a small message cannot
// keep us busy for long. Windows are bounded: 32 KiB of gzip and deflate, 16 MiB of br, 8 MiB of
// zstd (RFC 9659). "deflate" is the zlib format alone (RFC 9110 section 8.4.1.2). A text is whole
// once is_finished() says so; gzip members and zstd frames may follow each other, zeros may
// follow the last gzip member, anything else behind the end fails. Nothing is allocated after
// make() but windows. Move-only; single thread.
//
//   auto plain = http::content_decoder::make(content_coding::gzip, {.bytes = 1 << 20});
//   coding_progress got = plain->decode(received, room);
#pragma once

#include <cstdint>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/http/content_codec.hpp>
#include <weft/http/content_coding.hpp>

namespace weft::http {

struct decoding_limits {
  std::uint64_t bytes = 16 * 1024 * 1024;
  std::uint32_t ratio = 200;
};

class content_decoder {
 public:
  // Below so many decoded bytes any ratio is fine.
  static constexpr std::uint64_t ratio_from_bytes = 1024 * 1024;

  // errc::unsupported (415): identity, which needs none; errc::exhausted: no memory.
  [[nodiscard]] static result<content_decoder> make(content_coding coding,
                                                    const decoding_limits& bounds);

  // `failed` stays: is_too_large() tells 413 from 400.
  [[nodiscard]] coding_progress decode(std::string_view input, std::span<char> room) noexcept;

  [[nodiscard]] bool is_finished() const noexcept { return last_ == coding_status::finished; }
  [[nodiscard]] bool is_too_large() const noexcept { return is_too_large_; }

 private:
  content_decoder(detail::codec_pointer codec, const decoding_limits& bounds) noexcept
      : codec_{std::move(codec)}, bounds_{bounds} {}
  [[nodiscard]] bool is_over_limit() const noexcept;

  detail::codec_pointer codec_;
  decoding_limits bounds_;
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0;
  coding_status last_ = coding_status::need_input;
  bool is_too_large_ = false;
};

}  // namespace weft::http

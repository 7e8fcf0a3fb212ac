// Makes a text shorter on its way out: gzip, deflate, br, zstd (RFC 9110 section 8.4.1).
//
// Contract: encode() takes what it can of `input`, writes what goes into `room`, and says what it
// waits for. `feed::flush` puts out all that was given, so that a reader sees it now; `feed::end`
// ends the text: go on until `finished`. Nothing is allocated after make(). Do not encode what
// holds both a secret and what a stranger chose: its length tells of the secret (BREACH).
// Move-only; single thread.
//
//   auto gzip = http::content_encoder::make(content_coding::gzip, effort::balanced);
//   coding_progress made = gzip->encode(text, room, feed::end);
#pragma once

#include <utility>

#include <weft/base/result.hpp>
#include <weft/http/content_codec.hpp>
#include <weft/http/content_coding.hpp>

namespace weft::http {

class content_encoder {
 public:
  // errc::unsupported: identity, which needs none; errc::exhausted: no memory.
  [[nodiscard]] static result<content_encoder> make(content_coding coding,
                                                    effort wanted = effort::balanced);

  // Of memory that one of them takes at most, while it works.
  [[nodiscard]] static std::size_t bytes_of(content_coding coding, effort wanted) noexcept;

  [[nodiscard]] coding_progress encode(std::string_view input, std::span<char> room,
                                       feed how) noexcept {
    return codec_->step(input, room, how);
  }

 private:
  explicit content_encoder(detail::codec_pointer codec) noexcept : codec_{std::move(codec)} {}

  detail::codec_pointer codec_;
};

}  // namespace weft::http

#include <weft/http/content_decoder.hpp>

#include <algorithm>

namespace weft::http {
namespace {

detail::codec_pointer make_codec(content_coding coding) {
  switch (coding) {
    case content_coding::identity: break;
    case content_coding::gzip: return detail::make_gzip_decoder();
    case content_coding::deflate: return detail::make_deflate_decoder();
    case content_coding::br: return detail::make_brotli_decoder();
    case content_coding::zstd: return detail::make_zstd_decoder();
  }
  return nullptr;
}

}  // namespace

result<content_decoder> content_decoder::make(content_coding coding,
                                              const decoding_limits& bounds) {
  if (coding == content_coding::identity) return fail(errc::unsupported);
  auto codec = make_codec(coding);
  if (!codec) return fail(errc::exhausted);
  return content_decoder{std::move(codec), bounds};
}

bool content_decoder::is_over_limit() const noexcept {
  return written_ > bounds_.bytes ||
         (written_ > ratio_from_bytes && written_ / bounds_.ratio > read_);
}

coding_progress content_decoder::decode(std::string_view input, std::span<char> room) noexcept {
  if (last_ == coding_status::failed) return {coding_status::failed, 0, 0};
  // One byte more than is allowed is enough to know.
  const std::uint64_t left = bounds_.bytes - written_;
  if (left < room.size()) room = room.first(static_cast<std::size_t>(left) + 1);
  coding_progress made = codec_->step(input, room, feed::more);
  read_ += made.consumed_bytes;
  written_ += made.written_bytes;
  if (made.status != coding_status::failed && is_over_limit()) {
    is_too_large_ = true;
    made = {coding_status::failed, made.consumed_bytes, 0};
  }
  last_ = made.status;
  return made;
}

}  // namespace weft::http

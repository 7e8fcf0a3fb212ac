#include <weft/http/content_encoder.hpp>

namespace weft::http {
namespace {

detail::codec_pointer make_codec(content_coding coding, effort wanted) {
  switch (coding) {
    case content_coding::identity: break;
    case content_coding::gzip: return detail::make_gzip_encoder(wanted);
    case content_coding::deflate: return detail::make_deflate_encoder(wanted);
    case content_coding::br: return detail::make_brotli_encoder(wanted);
    case content_coding::zstd: return detail::make_zstd_encoder(wanted);
  }
  return nullptr;
}

}  // namespace

std::size_t content_encoder::bytes_of(content_coding coding, effort wanted) noexcept {
  switch (coding) {
    case content_coding::identity: break;
    case content_coding::gzip:
    case content_coding::deflate: return detail::zlib_encoder_bytes;
    case content_coding::br: return detail::brotli_encoder_bytes(wanted);
    case content_coding::zstd: return detail::zstd_encoder_bytes(wanted);
  }
  return 0;
}

result<content_encoder> content_encoder::make(content_coding coding, effort wanted) {
  if (coding == content_coding::identity) return fail(errc::unsupported);
  auto codec = make_codec(coding, wanted);
  if (!codec) return fail(errc::exhausted);
  return content_encoder{std::move(codec)};
}

}  // namespace weft::http

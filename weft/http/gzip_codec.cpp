// gzip (RFC 1952) and deflate (RFC 1950) by zlib.
#include <zlib.h>

#include <algorithm>
#include <climits>
#include <utility>

#include <weft/http/content_codec.hpp>

namespace weft::http::detail {
namespace {

constexpr int zlib_window = 15;
constexpr int gzip_window = zlib_window + 16;  // how zlib is told to read and write that format

int zlib_level(effort wanted) noexcept {
  switch (wanted) {
    case effort::fast: return 1;
    case effort::balanced: return 5;
    case effort::smallest: break;
  }
  return 9;
}

// zlib counts in unsigned; what is beyond is for the next call.
struct zlib_offer {
  zlib_offer(z_stream& stream, std::string_view input, std::span<char> room) noexcept
      : input_bytes{static_cast<unsigned>(std::min<std::size_t>(input.size(), UINT_MAX))},
        room_bytes{static_cast<unsigned>(std::min<std::size_t>(room.size(), UINT_MAX))} {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // only read
    stream.avail_in = input_bytes;
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = room_bytes;
  }
  [[nodiscard]] coding_progress progress(const z_stream& stream,
                                         coding_status status) const noexcept {
    return {status, input_bytes - stream.avail_in, room_bytes - stream.avail_out};
  }
  unsigned input_bytes;
  unsigned room_bytes;
};

class zlib_encoder final : public content_codec {
 public:
  zlib_encoder(effort wanted, int window) noexcept
      : is_made_{deflateInit2(&stream_, zlib_level(wanted), Z_DEFLATED, window, 8,
                              Z_DEFAULT_STRATEGY) == Z_OK} {}
  ~zlib_encoder() override { deflateEnd(&stream_); }
  [[nodiscard]] bool is_made() const noexcept { return is_made_; }

  coding_progress step(std::string_view input, std::span<char> room, feed how) noexcept override {
    const zlib_offer given{stream_, input, room};
    const int flush = how == feed::more ? Z_NO_FLUSH : how == feed::flush ? Z_SYNC_FLUSH : Z_FINISH;
    const int said = deflate(&stream_, flush);
    if (said == Z_STREAM_END) return given.progress(stream_, coding_status::finished);
    if (said != Z_OK && said != Z_BUF_ERROR) return given.progress(stream_, coding_status::failed);
    return given.progress(
        stream_, stream_.avail_out == 0 ? coding_status::need_room : coding_status::need_input);
  }

 private:
  z_stream stream_{};
  bool is_made_;
};

class zlib_decoder final : public content_codec {
 public:
  explicit zlib_decoder(int window) noexcept
      : has_members_{window == gzip_window}, is_made_{inflateInit2(&stream_, window) == Z_OK} {}
  ~zlib_decoder() override { inflateEnd(&stream_); }
  [[nodiscard]] bool is_made() const noexcept { return is_made_; }

  coding_progress step(std::string_view input, std::span<char> room, feed) noexcept override {
    const zlib_offer given{stream_, input, room};
    for (;;) {
      if (is_at_end_) {
        skip_padding();
        if (stream_.avail_in == 0) return given.progress(stream_, coding_status::finished);
        // One gzip file behind the other is a gzip file (RFC 1952 section 2.2).
        if (!has_members_ || is_padded_ || inflateReset(&stream_) != Z_OK) break;
        is_at_end_ = false;
      }
      const int said = inflate(&stream_, Z_NO_FLUSH);
      is_at_end_ = said == Z_STREAM_END;
      if (is_at_end_) continue;
      if (said != Z_OK && said != Z_BUF_ERROR) break;
      return given.progress(
          stream_, stream_.avail_out == 0 ? coding_status::need_room : coding_status::need_input);
    }
    return given.progress(stream_, coding_status::failed);
  }

 private:
  // As gzip(1), which reads files from tapes and devices that are filled up with zeros.
  void skip_padding() noexcept {
    for (; has_members_ && stream_.avail_in != 0 && *stream_.next_in == 0; --stream_.avail_in) {
      ++stream_.next_in;
      is_padded_ = true;
    }
  }

  z_stream stream_{};
  bool has_members_;
  bool is_padded_ = false;  // behind the last member: nothing else may follow
  bool is_made_;
  bool is_at_end_ = false;
};

template <class Codec, class... Values>
codec_pointer make(Values... values) {
  auto codec = std::make_unique<Codec>(values...);
  return codec->is_made() ? std::move(codec) : nullptr;
}

}  // namespace

codec_pointer make_gzip_encoder(effort wanted) { return make<zlib_encoder>(wanted, gzip_window); }
codec_pointer make_gzip_decoder() { return make<zlib_decoder>(gzip_window); }
codec_pointer make_deflate_encoder(effort wanted) {
  return make<zlib_encoder>(wanted, zlib_window);
}
codec_pointer make_deflate_decoder() { return make<zlib_decoder>(zlib_window); }

}  // namespace weft::http::detail

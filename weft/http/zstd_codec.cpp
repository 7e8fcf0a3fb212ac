// zstd (RFC 8878) by its own library.
#include <zstd.h>

#include <utility>

#include <weft/http/content_codec.hpp>

namespace weft::http::detail {
namespace {

// What a decoder of this coding must have, and no more is to be asked of it (RFC 9659 section 3).
constexpr int window_log_max = 23;

int zstd_level(effort wanted) noexcept {
  switch (wanted) {
    case effort::fast: return 1;
    case effort::balanced: return 3;
    case effort::smallest: break;
  }
  return 19;  // the last whose window is no larger
}

struct context_deleter {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

class zstd_encoder final : public content_codec {
 public:
  explicit zstd_encoder(effort wanted) noexcept : context_{ZSTD_createCCtx()} {
    if (context_)
      ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, zstd_level(wanted));
  }
  [[nodiscard]] bool is_made() const noexcept { return context_ != nullptr; }

  coding_progress step(std::string_view input, std::span<char> room, feed how) noexcept override {
    ZSTD_inBuffer from{.src = input.data(), .size = input.size(), .pos = 0};
    ZSTD_outBuffer into{.dst = room.data(), .size = room.size(), .pos = 0};
    const auto directive = how == feed::more    ? ZSTD_e_continue
                           : how == feed::flush ? ZSTD_e_flush
                                                : ZSTD_e_end;
    const std::size_t left = ZSTD_compressStream2(context_.get(), &into, &from, directive);
    if (ZSTD_isError(left) != 0) return {coding_status::failed, from.pos, into.pos};
    const bool is_done = from.pos == from.size && (how == feed::more || left == 0);
    if (!is_done) return {coding_status::need_room, from.pos, into.pos};
    return {how == feed::end ? coding_status::finished : coding_status::need_input, from.pos,
            into.pos};
  }

 private:
  std::unique_ptr<ZSTD_CCtx, context_deleter> context_;
};

class zstd_decoder final : public content_codec {
 public:
  zstd_decoder() noexcept : context_{ZSTD_createDCtx()} {
    if (context_) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, window_log_max);
  }
  [[nodiscard]] bool is_made() const noexcept { return context_ != nullptr; }

  // One frame behind the other is a coded text, too (RFC 8878 section 3).
  coding_progress step(std::string_view input, std::span<char> room, feed) noexcept override {
    ZSTD_inBuffer from{.src = input.data(), .size = input.size(), .pos = 0};
    ZSTD_outBuffer into{.dst = room.data(), .size = room.size(), .pos = 0};
    while (from.pos < from.size || (!is_at_end_ && into.pos < into.size)) {
      const std::size_t before = from.pos + into.pos;
      const std::size_t left = ZSTD_decompressStream(context_.get(), &into, &from);
      if (ZSTD_isError(left) != 0) return {coding_status::failed, from.pos, into.pos};
      is_at_end_ = left == 0;
      if (into.pos == into.size || from.pos + into.pos == before) break;
    }
    if (is_at_end_ && from.pos == from.size) return {coding_status::finished, from.pos, into.pos};
    return {into.pos == into.size ? coding_status::need_room : coding_status::need_input, from.pos,
            into.pos};
  }

 private:
  std::unique_ptr<ZSTD_DCtx, context_deleter> context_;
  bool is_at_end_ = false;
};

}  // namespace

std::size_t zstd_encoder_bytes(effort wanted) noexcept {
  switch (wanted) {
    case effort::fast: return 1'408 * 1024;
    case effort::balanced: return 3'712 * 1024;
    case effort::smallest: break;
  }
  return std::size_t{92} << 20U;
}

codec_pointer make_zstd_encoder(effort wanted) {
  auto codec = std::make_unique<zstd_encoder>(wanted);
  return codec->is_made() ? std::move(codec) : nullptr;
}

codec_pointer make_zstd_decoder() {
  auto codec = std::make_unique<zstd_decoder>();
  return codec->is_made() ? std::move(codec) : nullptr;
}

}  // namespace weft::http::detail

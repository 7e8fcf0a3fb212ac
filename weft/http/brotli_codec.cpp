// br (RFC 7932) by brotli.
#include <brotli/decode.h>
#include <brotli/encode.h>

#include <utility>

#include <weft/http/content_codec.hpp>

namespace weft::http::detail {
namespace {

std::uint32_t quality_of(effort wanted) noexcept {
  switch (wanted) {
    case effort::fast: return 1;
    case effort::balanced: return 5;
    case effort::smallest: break;
  }
  return 11;
}

// Replies are made by many connections at a time: 256 KiB of window are enough for them.
constexpr std::uint32_t window_bits = 18;
constexpr std::uint32_t window_bits_ahead = 22;

struct brotli_offer {
  brotli_offer(std::string_view input, std::span<char> room) noexcept
      : input_bytes{input.size()},
        room_bytes{room.size()},
        input_left{input.size()},
        room_left{room.size()},
        next_in{reinterpret_cast<const std::uint8_t*>(input.data())},
        next_out{reinterpret_cast<std::uint8_t*>(room.data())} {}
  [[nodiscard]] coding_progress progress(coding_status status) const noexcept {
    return {status, input_bytes - input_left, room_bytes - room_left};
  }
  std::size_t input_bytes;
  std::size_t room_bytes;
  std::size_t input_left;
  std::size_t room_left;
  const std::uint8_t* next_in;
  std::uint8_t* next_out;
};

struct encoder_deleter {
  void operator()(BrotliEncoderState* state) const noexcept { BrotliEncoderDestroyInstance(state); }
};

class brotli_encoder final : public content_codec {
 public:
  explicit brotli_encoder(effort wanted) noexcept
      : state_{BrotliEncoderCreateInstance(nullptr, nullptr, nullptr)} {
    if (!state_) return;
    const auto window = wanted == effort::smallest ? window_bits_ahead : window_bits;
    BrotliEncoderSetParameter(state_.get(), BROTLI_PARAM_QUALITY, quality_of(wanted));
    BrotliEncoderSetParameter(state_.get(), BROTLI_PARAM_LGWIN, window);
  }
  [[nodiscard]] bool is_made() const noexcept { return state_ != nullptr; }

  coding_progress step(std::string_view input, std::span<char> room, feed how) noexcept override {
    brotli_offer given{input, room};
    const auto operation = how == feed::more    ? BROTLI_OPERATION_PROCESS
                           : how == feed::flush ? BROTLI_OPERATION_FLUSH
                                                : BROTLI_OPERATION_FINISH;
    if (BrotliEncoderCompressStream(state_.get(), operation, &given.input_left, &given.next_in,
                                    &given.room_left, &given.next_out, nullptr) == BROTLI_FALSE)
      return given.progress(coding_status::failed);
    if (BrotliEncoderIsFinished(state_.get()) != BROTLI_FALSE)
      return given.progress(coding_status::finished);
    const bool has_more =
        BrotliEncoderHasMoreOutput(state_.get()) != BROTLI_FALSE || given.input_left != 0;
    return given.progress(has_more ? coding_status::need_room : coding_status::need_input);
  }

 private:
  std::unique_ptr<BrotliEncoderState, encoder_deleter> state_;
};

struct decoder_deleter {
  void operator()(BrotliDecoderState* state) const noexcept { BrotliDecoderDestroyInstance(state); }
};

class brotli_decoder final : public content_codec {
 public:
  brotli_decoder() noexcept : state_{BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)} {}
  [[nodiscard]] bool is_made() const noexcept { return state_ != nullptr; }

  coding_progress step(std::string_view input, std::span<char> room, feed) noexcept override {
    brotli_offer given{input, room};
    if (is_at_end_)
      return given.progress(input.empty() ? coding_status::finished : coding_status::failed);
    switch (BrotliDecoderDecompressStream(state_.get(), &given.input_left, &given.next_in,
                                          &given.room_left, &given.next_out, nullptr)) {
      case BROTLI_DECODER_RESULT_SUCCESS: is_at_end_ = true; break;
      case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
        // It says so even while text that did not fit waits in its window.
        return given.progress(BrotliDecoderHasMoreOutput(state_.get()) != BROTLI_FALSE
                                  ? coding_status::need_room
                                  : coding_status::need_input);
      case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: return given.progress(coding_status::need_room);
      case BROTLI_DECODER_RESULT_ERROR: return given.progress(coding_status::failed);
    }
    return given.progress(given.input_left == 0 ? coding_status::finished : coding_status::failed);
  }

 private:
  std::unique_ptr<BrotliDecoderState, decoder_deleter> state_;
  bool is_at_end_ = false;
};

}  // namespace

std::size_t brotli_encoder_bytes(effort wanted) noexcept {
  switch (wanted) {
    case effort::fast: return 512 * 1024;
    case effort::balanced: return 2'560 * 1024;
    case effort::smallest: break;
  }
  return std::size_t{43} << 20U;
}

codec_pointer make_brotli_encoder(effort wanted) {
  auto codec = std::make_unique<brotli_encoder>(wanted);
  return codec->is_made() ? std::move(codec) : nullptr;
}

codec_pointer make_brotli_decoder() {
  auto codec = std::make_unique<brotli_decoder>();
  return codec->is_made() ? std::move(codec) : nullptr;
}

}  // namespace weft::http::detail

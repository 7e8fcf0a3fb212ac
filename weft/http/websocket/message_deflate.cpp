#include <weft/http/websocket/message_deflate.hpp>

#include <zlib.h>

#include <algorithm>
#include <climits>
#include <span>

#include <weft/http/websocket/message_memory.hpp>

namespace weft::http::ws {
namespace {

/// What every flushed block ends with: left out by who sends, put back by who receives (RFC 7692
/// section 7.2.1).
constexpr std::string_view flush_mark{"\0\0\xff\xff", 4};
constexpr int level = 5;
constexpr int memory_level = 8;
/// What each piece of output gets at least.
constexpr std::size_t least_room_bytes = 64;
/// What zlib's data_type says of an inflater that stands between two blocks, with no bit left over.
constexpr int between_blocks = 128;

// zlib counts in unsigned.
void offer(z_stream& stream, std::string_view input) noexcept {
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // only read
  stream.avail_in = static_cast<unsigned>(std::min<std::size_t>(input.size(), UINT_MAX));
}

void offer_room(z_stream& stream, std::span<char> room) noexcept {
  stream.next_out = reinterpret_cast<Bytef*>(room.data());
  stream.avail_out = static_cast<unsigned>(std::min<std::size_t>(room.size(), UINT_MAX));
}

}  // namespace

struct message_deflater::state {
  explicit state(int window_bits) noexcept
      : is_made{deflateInit2(&stream, level, Z_DEFLATED, -window_bits, memory_level,
                             Z_DEFAULT_STRATEGY) == Z_OK} {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { deflateEnd(&stream); }

  z_stream stream{};
  bool is_made;
};

message_deflater::message_deflater(int window_bits, bool keeps_context) noexcept
    : window_bits_{static_cast<std::int8_t>(window_bits)}, keeps_context_{keeps_context} {}

message_deflater::~message_deflater() = default;

result<void> message_deflater::deflate(std::string_view message, std::string& out) {
  out.clear();
  if (!state_) state_ = std::make_unique<state>(window_bits_);
  if (!state_->is_made || message.size() > UINT_MAX) return fail(errc::exhausted);
  z_stream& stream = state_->stream;
  offer(stream, message);
  do {
    const std::size_t used = out.size();
    out.resize_and_overwrite(
        used + std::max(least_room_bytes, message.size() / 2 + least_room_bytes),
        [](char*, std::size_t all) { return all; });
    offer_room(stream, std::span{out}.subspan(used));
    const int said = ::deflate(&stream, Z_SYNC_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (said != Z_OK && said != Z_BUF_ERROR) return fail(errc::exhausted);
  } while (stream.avail_out == 0);
  // An empty message is one byte (RFC 7692 section 7.2.3.6), of which zlib flushes nothing twice.
  if (out.ends_with(flush_mark)) out.resize(out.size() - flush_mark.size());
  if (out.empty()) out.push_back('\0');
  if (!keeps_context_) deflateReset(&stream);
  return {};
}

struct message_inflater::state {
  explicit state(int window_bits) noexcept
      : is_usable{inflateInit2(&stream, -window_bits) == Z_OK} {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { inflateEnd(&stream); }

  z_stream stream{};
  bool is_usable;
};

message_inflater::message_inflater(int window_bits, bool keeps_context) noexcept
    : window_bits_{static_cast<std::int8_t>(window_bits)}, keeps_context_{keeps_context} {}

message_inflater::~message_inflater() = default;

result<void> message_inflater::inflate(std::string_view payload, message_memory& out,
                                       std::size_t most_bytes) {
  if (!state_) state_ = std::make_unique<state>(window_bits_);
  if (!state_->is_usable) return fail(errc::exhausted);
  result<void> done = feed(payload, out, most_bytes);
  if (done) done = feed(flush_mark, out, most_bytes);
  // Within a block the mark was read as data, and what is missing the next message would give.
  if (done && state_->stream.data_type != between_blocks) done = fail(errc::protocol_error);
  if (!keeps_context_)
    state_->is_usable = inflateReset(&state_->stream) == Z_OK;
  else if (!done)
    state_->is_usable = false;
  return done;
}

result<void> message_inflater::feed(std::string_view payload, message_memory& out,
                                    std::size_t most_bytes) {
  z_stream& stream = state_->stream;
  offer(stream, payload);
  for (;;) {
    const std::size_t left_bytes = most_bytes - out.size();
    std::span<char> room = out.prepare();
    if (left_bytes < room.size()) room = room.first(left_bytes + 1);  // one too many is seen
    offer_room(stream, room);
    const int said = ::inflate(&stream, Z_SYNC_FLUSH);
    out.commit(room.size() - stream.avail_out);
    if (said == Z_STREAM_END) {
      // A last block need not be the last of a message (RFC 7692 section 7.2.3.4).
      if (inflateResetKeep(&stream) != Z_OK) return fail(errc::protocol_error);
    } else if (said != Z_OK && said != Z_BUF_ERROR) {
      return fail(said == Z_MEM_ERROR ? errc::exhausted : errc::protocol_error);
    }
    if (out.size() > most_bytes) return fail(errc::limit_exceeded);
    if (stream.avail_in == 0 && stream.avail_out != 0) return {};
  }
}

}  // namespace weft::http::ws

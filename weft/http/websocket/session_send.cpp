// What goes out over a WebSocket.
#include <weft/http/websocket/session.hpp>

#include <cstring>
#include <utility>

#include <weft/http/websocket/mask.hpp>
#include <weft/http/websocket/mask_keys.hpp>
#include <weft/http/websocket/prepared_message.hpp>
#include <weft/http/websocket/shared_codecs.hpp>
#include <weft/http/websocket/utf8_checker.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::http::ws {
namespace {

/// Shorter ones do not get shorter.
constexpr std::size_t compressed_least_bytes = 128;
/// Longer ones would keep the loop from the others for some milliseconds.
constexpr std::size_t compressed_most_bytes = 256 * 1024;

/// Shorter messages cost less as a copy than the note of where they are.
constexpr std::size_t shared_least_bytes = 256;

/// Counted as long as it lives.
class counted_sender {
 public:
  explicit counted_sender(std::uint32_t& count) noexcept : count_{++count} {}
  counted_sender(const counted_sender&) = delete;
  counted_sender& operator=(const counted_sender&) = delete;
  ~counted_sender() { --count_; }

 private:
  std::uint32_t& count_;
};

}  // namespace

error session::closed_reason() const noexcept {
  return ended_ != nullptr ? ended_->why : error{errc::closed};
}

bool session::send_now(const websocket_message& what, result<void>& outcome) {
  outcome = {};
  if (phase_ != phase::open) {
    outcome = fail(closed_reason());
  } else if (what.is_text() && !is_utf8(what.data)) {
    outcome = fail(errc::invalid_argument);
  } else if (sending_.is_locked() || link_.queued_bytes() > net::tcp_stream::high_watermark) {
    return false;
  } else {
    append_message(what);
  }
  return true;
}

task<result<void>> session::send_later(websocket_message what) {
  result<void> outcome;
  {
    const counted_sender waiting{senders_};
    const auto locked = co_await sending_.lock();
    outcome = locked ? co_await make_room() : fail(locked.error());
    if (outcome) append_message(what);
  }
  end_if_over();
  co_return outcome;
}

task<result<void>> session::send_part(websocket_message part, bool is_last) {
  result<void> outcome;
  {
    const counted_sender waiting{senders_};
    bool is_first = false;
    do {
      if (!fragmenting_) {
        auto locked = co_await sending_.lock();
        if (!locked) {
          outcome = fail(locked.error());
          break;
        }
        fragmenting_.emplace(std::move(*locked));
        is_first = true;
        parts_have_begun_ = false;
      }
      outcome = co_await make_room();
    } while (outcome && !fragmenting_);  // somebody else has ended the message meanwhile
    if (outcome) append_part(part, is_last);
    // What has begun must end before others may send, and what has not keeps nobody waiting.
    const bool is_over = outcome ? is_last : is_first && !parts_have_begun_;
    if (fragmenting_ && (is_over || phase_ != phase::open)) fragmenting_.reset();
  }
  end_if_over();
  co_return outcome;
}

void session::append_part(const websocket_message& part, bool is_last) {
  const opcode begins = part.is_text() ? opcode::text : opcode::binary;
  append_frame({.is_final = is_last, .kind = parts_have_begun_ ? opcode::continuation : begins},
               part.data);
  parts_have_begun_ = true;
}

task<result<void>> session::make_room() {
  if (phase_ != phase::open) co_return fail(closed_reason());
  result<void> room;
  if (net::tcp_stream* const direct = link_.connection())
    room = co_await direct->drain();
  else
    room = co_await link_.through().drain();
  // Not this task's wait alone.
  const bool is_broken = !room && (room.error().os_errno() != 0 || room.error() == errc::reset);
  if (is_broken && phase_ == phase::open) lose("broken");
  if (phase_ != phase::open) co_return fail(closed_reason());
  co_return room;
}

void session::append_message(const websocket_message& what) {
  frame_head head{.kind = what.is_text() ? opcode::text : opcode::binary};
  std::string_view payload = what.data;
  if (deflater_ != nullptr && payload.size() >= compressed_least_bytes &&
      payload.size() <= compressed_most_bytes) {
    std::string& shorter = shared_codecs::of_this_thread().text();
    // One that remembers what it was given must have it read as well.
    if (deflater_->deflate(payload, shorter) &&
        (own_deflater_ != nullptr || shorter.size() < payload.size())) {
      head.is_compressed = true;
      payload = shorter;
    }
  }
  counts_.messages_sent.add();
  counts_.bytes_sent.add(what.data.size());
  append_frame(head, payload);
}

bool session::has_room(std::size_t queued_most) const noexcept {
  return phase_ == phase::open && !fragmenting_ && link_.queued_bytes() <= queued_most;
}

void session::append_prepared(prepared_message& message) {
  if (self_ == role::client) return append_message(message.what());  // each frame masked otherwise
  const std::size_t size = message.what().data.size();
  prepared_frame* frame = nullptr;
  if (deflater_ != nullptr && size >= compressed_least_bytes && size <= compressed_most_bytes) {
    if (own_deflater_ != nullptr) return append_message(message.what());
    frame = &message.deflated(deflater_->window_bits());
  }
  if (frame == nullptr || frame->text().empty()) frame = &message.plain();
  counts_.messages_sent.add();
  counts_.bytes_sent.add(size);
  const std::string_view text = frame->text();
  queued_since_look_ += text.size();
  if (is_better_shared(text.size())) return link_.append(frame->share(loop_.memory()));
  text.copy(link_.prepare(text.size()).data(), text.size());
  link_.commit(text.size());
}

/// What is sent at once is copied to where other messages are; what waits is kept once for all.
bool session::is_better_shared(std::size_t size_bytes) const noexcept {
  return size_bytes > net::tcp_stream::prepare_most_bytes ||
         (size_bytes >= shared_least_bytes &&
          link_.queued_bytes() > net::tcp_stream::low_watermark);
}

void session::append_frame(frame_head head, std::string_view payload) {
  head.payload_bytes = payload.size();
  head.is_masked = self_ == role::client;
  if (head.is_masked) head.key = next_mask_key();
  queued_since_look_ += head.size_bytes() + payload.size();
  const bool fits = head.size_bytes() + payload.size() <= net::tcp_stream::prepare_most_bytes;
  std::string large;  // first: half a frame cannot be taken back
  if (!fits) {
    large = payload;
    if (head.is_masked) apply_mask(large, head.key, 0);
  }
  const std::size_t in_place = head.size_bytes() + (fits ? payload.size() : 0);
  char* const out = head.write(link_.prepare(in_place).data());
  if (fits && head.is_masked)
    copy_masked(out, payload, head.key, 0);
  else if (fits && !payload.empty())
    std::memcpy(out, payload.data(), payload.size());
  link_.commit(in_place);
  if (!fits) link_.append(std::move(large));
}

void session::append_control(opcode kind, std::string_view payload) {
  append_frame({.kind = kind}, payload);
}

}  // namespace weft::http::ws

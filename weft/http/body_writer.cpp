#include <weft/http/body_writer.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <weft/http/active_request.hpp>
#include <weft/http/compress.hpp>
#include <weft/http/connection.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/reply_head.hpp>
#include <weft/loop/file.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::http {
namespace {

/// A client that takes all at once must not keep the loop from the others.
constexpr std::size_t most_before_yield_bytes = 64 * 1024;
/// Of a file: by memory of our own, which a slow client's connection keeps, and without.
constexpr std::size_t copied_most_bytes = 64 * 1024;
constexpr std::size_t sent_most_bytes = 256 * 1024;
/// Coded at a time: what a connection sends in one piece with what frames it.
constexpr std::size_t coded_piece_bytes = net::tcp_stream::prepare_most_bytes - 32;
/// Coded between two turns of others.
constexpr std::size_t coded_slice_bytes = 16 * 1024;

}  // namespace

void body_writer::start(response head, std::optional<std::uint64_t> length_bytes) {
  head_ = std::move(head);
  length_ = length_bytes;
}

void body_writer::begin() {
  exchange& reply = *of_.reply;
  state_ = state::broken;
  const auto framing = reply.begin_body(head_, length_);
  if (!framing) return;
  framing_ = *framing;
  discards_ = reply.request().method() == method::head;
  state_ = state::open;
  if (const std::string first = head_.take_body(); !first.empty() && admit(first.size()))
    append(std::string_view{first});
}

/// Whether so many bytes may follow, which are then counted.
result<void> body_writer::admit(std::size_t size_bytes) {
  if (state_ == state::unbegun) begin();
  if (state_ != state::open) return fail(failure_);
  const bool fits = length_ ? size_bytes <= *length_ - written_ : true;
  if (!fits || is_bodiless(head_.code())) return fail(errc::invalid_argument);
  written_ += size_bytes;
  since_yield_ += size_bytes;
  return {};
}

borrowing_task<result<void>> body_writer::write(borrowed_text text) {
  return write_text(text.view());
}

task<result<void>> body_writer::write(std::string&& text) { return write_text(std::move(text)); }

template <class Text>
task<result<void>> body_writer::write_text(Text text) {
  // Before and not after: a handler that goes on though it was told that there is no room is told
  // so again, and its text is not taken.
  const bool is_much = client_.queued_bytes() > net::tcp_stream::low_watermark;
  if (state_ == state::open && (is_much || since_yield_ > most_before_yield_bytes)) {
    const auto room = co_await make_room(false);
    if (!room) co_return room;
  }
  const auto admitted = admit(text.size());
  if (!admitted) co_return admitted;
  if (encoder_ && text.size() > coded_slice_bytes) [[unlikely]]
    co_return co_await append_slices(text);
  append(std::move(text));
  client_.start_handler_clock();
  co_return result<void>{};
}

task<result<void>> body_writer::write_from(file& from, std::uint64_t offset,
                                           std::uint64_t size_bytes) {
  const auto begun = admit(0);
  if (!begun) co_return begun;
  if (length_ && size_bytes > *length_ - written_) co_return fail(errc::invalid_argument);
  if (discards_) co_return admit(size_bytes);
  // Little leaves with the head, in one piece.
  const bool may_send =
      framing_ != body_framing::chunked && !encoder_ && size_bytes > copied_most_bytes;
  while (size_bytes != 0) {
    const auto room = co_await (may_send ? make_room(true) : write_text(std::string_view{}));
    if (!room) co_return room;
    std::uint64_t sent = may_send ? send_from(from, offset, size_bytes) : 0;
    if (sent == 0) {
      // It is not in memory, or the client has no room: whoever has written waits for that.
      sent = std::min<std::uint64_t>(copied_most_bytes, size_bytes);
      const auto copied = co_await copy_from(from, offset, sent);
      if (!copied) co_return copied;
    }
    offset += sent;
    size_bytes -= sent;
  }
  co_return result<void>{};
}

task<result<void>> body_writer::copy_from(file& from, std::uint64_t offset,
                                          std::size_t size_bytes) {
  std::string piece(size_bytes, '\0');
  const auto got = co_await from.read_at(offset, piece);
  if (!got) co_return fail(got.error());
  if (*got != size_bytes) co_return fail(errc::unavailable);  // it has become shorter
  co_return co_await write(std::move(piece));
}

std::size_t body_writer::send_from(const file& from, std::uint64_t offset,
                                   std::uint64_t size_bytes) {
  const std::size_t sent =
      client_.send_from(from, offset, std::min<std::uint64_t>(sent_most_bytes, size_bytes));
  written_ += sent;
  since_yield_ += sent;
  client_.host_.loop.note_produced(sent);
  client_.host_.counts.body_bytes.add(sent);
  client_.start_handler_clock();
  return sent;
}

void body_writer::append(std::string_view text) {
  if (text.empty() || discards_) return;
  if (encoder_) [[unlikely]]
    append_coded(text, feed::flush);
  else
    give(text);
}

void body_writer::append(std::string&& text) {
  if (text.empty() || discards_) return;
  if (encoder_) [[unlikely]]
    append_coded(text, feed::flush);
  else
    give(std::move(text));
}

/// Should memory run out in the middle, nothing may follow: it would be taken for the rest.
template <class Text>
void body_writer::give(Text&& text) {
  client_.host_.counts.body_bytes.add(text.size());
  client_.host_.loop.note_produced(text.size());
  state_ = state::broken;
  failure_ = errc::exhausted;
  client_.append_body(std::forward<Text>(text), framing_);
  state_ = state::open;
}

bool body_writer::code_by(compress_rules& rules, content_coding as) {
  is_coded_ = of_.reply->request().method() != method::head;
  if (!is_coded_) return true;  // the head alone is sent
  const effort wanted = rules.options.effort;
  slot_ = rules.slots.take(client_.host_.loop.memory(), content_encoder::bytes_of(as, wanted));
  if (!slot_) return is_coded_ = false;
  auto made = content_encoder::make(as, wanted);
  if (!made) {
    slot_.reset();
    return is_coded_ = false;
  }
  encoder_.emplace(std::move(*made));
  return true;
}

void body_writer::release_encoder() noexcept {
  if (!encoder_) return;
  encoder_.reset();
  slot_.reset();
}

void body_writer::append_coded(std::string_view text, feed how) {
  std::array<char, coded_piece_bytes> room;
  for (coding_status said = coding_status::need_room; said == coding_status::need_room;) {
    const coding_progress made = encoder_->encode(text, room, how);
    text.remove_prefix(made.consumed_bytes);
    coded_bytes_ += made.written_bytes;
    if (made.written_bytes != 0) give(std::string_view{room.data(), made.written_bytes});
    said = made.status;
    if (said == coding_status::failed) {
      state_ = state::broken;
      failure_ = errc::exhausted;
    }
  }
}

task<result<void>> body_writer::append_slices(std::string_view text) {
  while (!text.empty() && !discards_) {
    const std::string_view slice = text.substr(0, coded_slice_bytes);
    append_coded(slice, slice.size() == text.size() ? feed::flush : feed::more);
    text.remove_prefix(slice.size());
    if (state_ != state::open) co_return fail(failure_);
    since_yield_ = most_before_yield_bytes + 1;
    if (const auto room = co_await make_room(false); !room) co_return room;
  }
  co_return result<void>{};
}

task<result<void>> body_writer::make_room(bool empty) {
  event_loop& loop = client_.host_.loop;
  if (since_yield_ > most_before_yield_bytes) {
    since_yield_ = 0;
    co_await yield{loop};
  }
  environment patience = co_await this_task::environment();
  const deadline own = patience.until;
  client_.stop_handler_clock();
  result<void> drained;
  for (;;) {
    const time_point began = loop.now();
    patience.until = std::min(own, deadline::at(began + pace_.until_look(*of_.bounds)));
    drained = co_await client_.drain(empty).in(patience);
    if (drained) pace_.note_wait(loop.now() - began);
    if (drained || drained.error() != errc::timed_out || own.passed(loop.now())) break;
    if (!client_takes_enough()) break;
  }
  client_.start_handler_clock();
  const bool goes_on = drained || drained.error() == errc::cancelled || own.passed(loop.now());
  if (!goes_on) {
    state_ = state::broken;
    failure_ = drained.error();
    client_.stop_->request_stop();
  }
  co_return drained;
}

bool body_writer::client_takes_enough() noexcept {
  const auto delivered = static_cast<std::int64_t>(sent_bytes() - client_.untaken_bytes());
  if (pace_.look(delivered, *of_.bounds) || client_.waits_for_others()) return true;
  client_.host_.counts.slow_readers.add();
  return false;
}

void body_writer::end() {
  if (state_ == state::unbegun) {
    if (!length_) length_ = head_.body().size();
    begin();
  }
  if (state_ != state::open || (length_ && !discards_ && written_ != *length_)) return;
  if (encoder_) [[unlikely]] {
    append_coded({}, feed::end);
    release_encoder();
    if (state_ != state::open) return;
  }
  state_ = state::ended;
  if (!discards_ && !is_bodiless(head_.code())) client_.end_body(framing_);
}

}  // namespace weft::http

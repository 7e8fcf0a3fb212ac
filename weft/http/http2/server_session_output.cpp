// What a server says over HTTP/2, frame by frame, and in which order.
#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <tuple>
#include <utility>

#include <weft/http/connection_host.hpp>
#include <weft/http/http2/queued_text.hpp>
#include <weft/http/http2/server_session.hpp>
#include <weft/http/log_dropped.hpp>
#include <weft/http/reply_head.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft::http::http2 {
namespace {

/// More frames than that, and those that its streams need, wait only for who cancels on while it
/// takes nothing.
constexpr std::size_t least_held_frames = 1'000;
/// What a client may say of the flow of data for each frame of it: of its stream, and of all.
constexpr std::int64_t updates_per_frame = 2;

std::uint8_t end_of_stream(bool ends) noexcept {
  return ends ? std::uint8_t{NGHTTP2_FLAG_END_STREAM} : std::uint8_t{0};
}

}  // namespace

// ---- single frames ----------------------------------------------------------------------------

void server_session::note_frame(http2_offence what) noexcept {
  if (has_room()) [[likely]]
    return;
  ++held_frames_;
  held_for_ = what;
}

void server_session::send_frame(const frame_head& head, std::string_view payload,
                                http2_offence what) noexcept {
  if (!may_send()) return;
  try {
    const std::size_t size = frame_head::size_bytes + payload.size();
    char* const out = stream_.prepare(size).data();
    frame_head sized = head;
    sized.length = static_cast<std::uint32_t>(payload.size());
    std::ranges::copy(payload, put_frame_head(out, sized));
    stream_.commit(size);
    given_bytes_ += size;
  } catch (const std::exception& why) {
    log_dropped(why);
    end_untold();
  }
  note_frame(what);
  flush_later();
}

void server_session::send_number(std::uint8_t type, std::int32_t stream,
                                 std::uint32_t number) noexcept {
  std::array<char, 4> payload{};
  put_number(payload.data(), number);
  send_frame({.type = type, .stream = stream}, {payload.data(), payload.size()},
             http2_offence::resets);
}

void server_session::send_reset(std::int32_t id, std::uint32_t code) noexcept {
  closed_ids_.note_reset(loop_.now());
  send_number(NGHTTP2_RST_STREAM, id, code);
}

void server_session::send_goaway(std::int32_t last, std::uint32_t code) noexcept {
  std::array<char, 8> payload{};
  put_number(put_number(payload.data(), static_cast<std::uint32_t>(last)), code);
  send_frame({.type = NGHTTP2_GOAWAY}, {payload.data(), payload.size()}, http2_offence::resets);
}

/// Whoever calls may be a stream, which must stay.
void server_session::end_untold() noexcept {
  input_ended_ = is_terminated_ = true;
  flush_later();
}

void server_session::terminate(std::uint32_t code) noexcept {
  input_ended_ = true;
  if (!may_send()) return;
  send_goaway(closed_ids_.last(), code);
  is_terminated_ = true;
  flush_later();
}

void server_session::send_settings() {
  const http2_limits& bounds = host_.limits.http2;
  const std::pair<unsigned, std::uint32_t> all[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, bounds.concurrent_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bounds.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(host_.limits.head_bytes)},
      {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  std::array<char, std::size(all) * 6> payload{};
  char* out = payload.data();
  for (const auto& [id, value] : all) out = put_number(put_short(out, id), value);
  send_frame({.type = NGHTTP2_SETTINGS}, {payload.data(), payload.size()}, http2_offence::resets);
  const std::int64_t more = bounds.connection_window_bytes - first_window_bytes;
  in_window_.resize(bounds.connection_window_bytes);
  if (more != 0) send_number(NGHTTP2_WINDOW_UPDATE, 0, static_cast<std::uint32_t>(more));
}

void server_session::consume(server_stream& who, std::size_t size_bytes) noexcept {
  consume_stream(who, size_bytes);
  consume_connection(size_bytes);
}

void server_session::consume_stream(server_stream& who, std::size_t size_bytes) noexcept {
  if (who.is_closed() || who.is_ending() || who.has_come_whole()) return;
  if (const std::uint32_t more = who.in_window.give_back(size_bytes); more != 0)
    send_number(NGHTTP2_WINDOW_UPDATE, who.id(), more);
}

void server_session::consume_connection(std::size_t size_bytes) noexcept {
  if (const std::uint32_t more = in_window_.give_back(size_bytes); more != 0)
    send_number(NGHTTP2_WINDOW_UPDATE, 0, more);
}

// ---- replies ----------------------------------------------------------------------------------

char* server_session::put_head(char* begin, const server_stream& from, const reply_head& head,
                               bool ends) noexcept {
  char* const fields = begin + frame_head::size_bytes;
  char* const end = encoder_.put_reply(fields, head);
  const unsigned flags = NGHTTP2_FLAG_END_HEADERS | unsigned{end_of_stream(ends)};
  put_frame_head(begin, {.length = static_cast<std::uint32_t>(end - fields),
                         .type = NGHTTP2_HEADERS,
                         .flags = static_cast<std::uint8_t>(flags),
                         .stream = from.id()});
  return end;
}

bool server_session::send_whole(server_stream& from, const reply_head& head,
                                std::string_view body) {
  const std::size_t most_bytes =
      field_encoder::most_bytes(head) + body.size() + 2 * frame_head::size_bytes;
  const auto window = static_cast<std::int64_t>(body.size());
  const bool is_small = most_bytes <= net::tcp_stream::prepare_most_bytes && has_room() &&
                        (body.empty() || window <= std::min(out_window_, from.out_window));
  if (!is_small || !may_send() || from.is_closed() || from.is_ending() ||
      head.code == status::switching_protocols) [[unlikely]]
    return false;
  char* const begin = stream_.prepare(most_bytes).data();
  char* out = put_head(begin, from, head, body.empty());
  if (!body.empty()) {
    out = put_frame_head(out, {.length = static_cast<std::uint32_t>(body.size()),
                               .type = NGHTTP2_DATA,
                               .flags = NGHTTP2_FLAG_END_STREAM,
                               .stream = from.id()});
    out = http::detail::put(out, body);
    from.out_window -= window;
    out_window_ -= window;
    idle_frames_.give(updates_per_frame);
  }
  stream_.commit(static_cast<std::size_t>(out - begin));
  given_bytes_ += static_cast<std::size_t>(out - begin);
  note_reply_end(from);
  return true;
}

void server_session::send_head(server_stream& from, const reply_head& head, bool ends) {
  if (!may_send() || from.is_closed() || from.is_ending()) return;
  const std::size_t most_bytes = frame_head::size_bytes + field_encoder::most_bytes(head);
  const std::size_t before = stream_.queued_bytes();
  if (most_bytes > net::tcp_stream::prepare_most_bytes) [[unlikely]] {
    send_long_head(from, head, ends);
  } else {
    char* const begin = stream_.prepare(most_bytes).data();
    stream_.commit(static_cast<std::size_t>(put_head(begin, from, head, ends) - begin));
  }
  given_bytes_ += stream_.queued_bytes() - before;
  note_frame(http2_offence::resets);
  if (ends) note_reply_end(from);
  flush_later();
}

/// Once a section has not left whole, it is not known what the client's table holds.
void server_session::send_long_head(const server_stream& from, const reply_head& head,
                                    bool ends) try {
  std::string fields(field_encoder::most_bytes(head), '\0');
  std::string_view rest{
      fields.data(),
      static_cast<std::size_t>(encoder_.put_reply(fields.data(), head) - fields.data())};
  frame_head part{.type = NGHTTP2_HEADERS, .flags = end_of_stream(ends), .stream = from.id()};
  do {
    const std::string_view now = rest.substr(0, payload_most_bytes);
    rest.remove_prefix(now.size());
    part.length = static_cast<std::uint32_t>(now.size());
    if (rest.empty()) part.flags |= NGHTTP2_FLAG_END_HEADERS;
    std::array<char, frame_head::size_bytes> text{};
    put_frame_head(text.data(), part);
    copy_into(stream_, {text.data(), text.size()});
    copy_into(stream_, now);
    part.type = NGHTTP2_CONTINUATION;
    part.flags = 0;
  } while (!rest.empty());
} catch (const std::exception&) {
  end_untold();
  throw;
}

void server_session::send_continue(server_stream& from) {
  if (from.is_closed() || from.is_ending()) return;
  std::array<char, field_encoder::interim_most_bytes> fields{};
  char* const end = encoder_.put_continue(fields.data());
  send_frame({.type = NGHTTP2_HEADERS, .flags = NGHTTP2_FLAG_END_HEADERS, .stream = from.id()},
             {fields.data(), end}, http2_offence::resets);
}

// ---- bodies -----------------------------------------------------------------------------------

void server_session::send_soon(server_stream& who) noexcept {
  flush_later();
  if (who.in_ready.is_linked() || who.is_ending() || who.is_closed() || who.is_answered()) return;
  const auto urgency = who.priority.urgency;
  if (ready_.empty() || ready_.back()->priority.urgency <= urgency) [[likely]]
    return ready_.push_back(who);
  auto before = ready_.begin();
  while (before->priority.urgency <= urgency) ++before;
  ready_.insert(before, who);
}

/// Not before all that has come has been read: what is urgent may stand there.
void server_session::frame_output() {
  while (!ready_.empty() && has_room() && may_send() && !input_) {
    if (frame_data(*ready_.front())) continue;
    frame_bare_ends();
    break;
  }
  close_ended();
  std::ignore = stream_.pump();
  if (has_room()) [[likely]] {
    held_frames_ = 0;
    if (is_blocked_ && !has_bodies_queued()) [[unlikely]]
      note_unblocked();
    // The others have their turn, and then the rest.
    if (!ready_.empty() && out_window_ > 0) flush_later();
    return;
  }
  const std::size_t most =
      least_held_frames + std::size_t{4} * host_.limits.http2.concurrent_streams;
  if (held_frames_ > most) cut_offender(held_for_);
  note_blocked();
  if (is_waiting_) return;
  task<void> waiting = wait_for_room();
  is_waiting_ = true;
  host_.workers.spawn(std::move(waiting));
}

void server_session::frame_bare_ends() {
  for (auto next = ready_.begin(); next != ready_.end() && has_room();) {
    server_stream& each = *next++;
    if (each.queued_bytes() == 0) std::ignore = frame_data(each);
  }
}

bool server_session::frame_data(server_stream& from) {
  const std::size_t queued = from.queued_bytes();
  const std::int64_t window = std::min(out_window_, from.out_window);
  if (queued != 0 && window <= 0) [[unlikely]]
    note_blocked();
  if (queued != 0 && out_window_ <= 0) return false;
  from.in_ready.unlink();
  if (queued == 0 ? !from.gives_no_more() : window <= 0) return true;  // until there is some
  const std::size_t size =
      queued == 0
          ? 0
          : std::min({queued, std::size_t{payload_most_bytes}, static_cast<std::size_t>(window)});
  const bool ends = size == queued && from.gives_no_more();
  std::array<char, frame_head::size_bytes> head{};
  put_frame_head(head.data(), {.length = static_cast<std::uint32_t>(size),
                               .type = NGHTTP2_DATA,
                               .flags = end_of_stream(ends),
                               .stream = from.id()});
  copy_into(stream_, {head.data(), head.size()});
  from.send(size, stream_);
  from.out_window -= static_cast<std::int64_t>(size);
  out_window_ -= static_cast<std::int64_t>(size);
  idle_frames_.give(updates_per_frame);
  if (is_blocked_) [[unlikely]]
    note_taken();
  framed_bytes_ += size;
  given_bytes_ += frame_head::size_bytes + size;
  loop_.note_produced(size);
  if (ends)
    note_reply_end(from);
  else if (size == queued || from.priority.is_incremental)
    send_soon(from);
  else
    ready_.push_front(from);  // all of it comes before the next of its urgency
  return true;
}

// ---- as a slow peer ---------------------------------------------------------------------------

void server_session::note_blocked() noexcept {
  if (stream_count_ == 0 || std::exchange(is_blocked_, true)) return;
  loop_.memory().note_stalled(*this, slow_kind);
}

void server_session::note_taken() noexcept {
  note_unblocked();
  note_blocked();
}

void server_session::note_unblocked() noexcept {
  if (std::exchange(is_blocked_, false)) loop_.memory().note_progress(*this);
}

bool server_session::has_bodies_queued() noexcept {
  for (const server_stream& each : streams_)
    if (each.queued_bytes() != 0) return true;
  return false;
}

std::size_t server_session::held_bytes(slow_peer& self) noexcept {
  std::size_t all = 0;
  for (const server_stream& each : static_cast<server_session&>(self).streams_)
    all += each.held_bytes();
  return all;
}

void server_session::drop(slow_peer& self) noexcept {
  auto& session = static_cast<server_session&>(self);
  session.is_blocked_ = false;
  session.lose();
}

// ---- ends -------------------------------------------------------------------------------------

/// Who has its whole reply need not send the rest (RFC 9113 section 8.1); who is spoken with does
/// so in his own time.
void server_session::note_reply_end(server_stream& whose) noexcept {
  whose.note_answered();
  if (whose.has_come_whole()) [[likely]]
    end_quietly(whose);
  else if (!whose.is_spoken_over())
    end_stream(whose, NGHTTP2_NO_ERROR);
}

void server_session::end_quietly(server_stream& who) noexcept {
  if (who.is_ending() || who.is_closed()) return;
  if (who.in_ready.is_linked()) who.in_ready.unlink();
  ending_.push_back(who);
  flush_later();
}

void server_session::end_stream(server_stream& who, std::uint32_t code) noexcept {
  if (who.is_ending() || who.is_closed()) return;
  who.last_word = code;
  end_quietly(who);
}

void server_session::fail_stream(server_stream& who, std::uint32_t code) noexcept {
  const bool is_early = !who.is_answered() && !who.is_ending();
  end_stream(who, code);
  if (is_early) std::ignore = allows(resets_, http2_offence::resets);
}

void server_session::close_ended() noexcept {
  while (server_stream* const each = ending_.pop_front()) {
    if (each->last_word) [[unlikely]]
      send_reset(each->id(), *each->last_word);
    close(*each);
  }
}

void server_session::close(server_stream& gone) noexcept {
  if (!gone.is_closed()) open_.remove(gone);
  gone.take_close();
}

}  // namespace weft::http::http2

// What the frames of a client mean: to its streams, and to the windows (RFC 9113 sections 5 and 6).
#include <tuple>
#include <utility>

#include <weft/http/connection_host.hpp>
#include <weft/http/http2/field_rules.hpp>
#include <weft/http/http2/server_session.hpp>

namespace weft::http::http2 {
namespace {

/// Fields so far beyond what is allowed are sent to harm: fewer are answered with 431.
constexpr std::size_t bomb_times = 8;

}  // namespace

void server_session::take_frame(const frame& come) {
  switch (come.type) {
    case NGHTTP2_HEADERS: return take_headers(come);
    case NGHTTP2_CONTINUATION: return take_fields(come.payload, come.has(NGHTTP2_FLAG_END_HEADERS));
    case NGHTTP2_DATA: return take_data(come);
    case NGHTTP2_RST_STREAM: take_reset(come.stream); break;
    case NGHTTP2_SETTINGS: take_settings(come); break;
    case NGHTTP2_PING:
      if (!come.has(NGHTTP2_FLAG_ACK))
        send_frame({.type = NGHTTP2_PING, .flags = NGHTTP2_FLAG_ACK}, come.payload,
                   http2_offence::idle_frames);
      break;
    case NGHTTP2_GOAWAY: take_goaway(come.payload); break;
    case NGHTTP2_WINDOW_UPDATE: take_window(come); break;
    default: break;  // not known, or without a meaning (RFC 9113 sections 5.3.2 and 5.5)
  }
  std::ignore = allows(idle_frames_, http2_offence::idle_frames);
}

bool server_session::is_unused(std::int32_t id) const noexcept {
  return (id % 2 == 0 || id > closed_ids_.last()) && !is_beyond_goodbye(id);
}

bool server_session::judge(std::int32_t id) noexcept {
  const std::uint32_t wrong = closed_ids_.judge(id, loop_.now());
  if (wrong == NGHTTP2_NO_ERROR) return true;
  host_.counts.cut(http2_offence::protocol);
  terminate(wrong);
  return false;
}

// ---- header sections --------------------------------------------------------------------------

/// What is passed over is decoded all the same: later sections refer to it.
void server_session::take_headers(const frame& come) {
  section_bytes_ = 0;
  headed_ = nullptr;
  are_trailers_ = trailers_are_malformed_ = false;
  section_ends_stream_ = come.has(NGHTTP2_FLAG_END_STREAM);
  if (is_beyond_goodbye(come.stream)) {
    // Its client asks elsewhere.
  } else if (closed_ids_.is_new(come.stream, true)) [[likely]] {
    begin_request(come.stream);
  } else if (server_stream* const whose = open_.find(come.stream)) {
    are_trailers_ = true;
    if (!whose->last_word) {
      if (whose->has_come_whole()) return terminate(NGHTTP2_STREAM_CLOSED);
      headed_ = whose;
    }
  } else if (!judge(come.stream)) {
    return;
  }
  if (!input_ended_) take_fields(come.payload, come.has(NGHTTP2_FLAG_END_HEADERS));
}

void server_session::begin_request(std::int32_t id) {
  head_.clear();
  const std::size_t most = host_.limits.http2.concurrent_streams;
  const bool are_too_many = open_.size() >= most;
  if (are_too_many && knows_settings_) return terminate(NGHTTP2_PROTOCOL_ERROR);
  // Those whose clients have gone, but not yet their handlers, count as well.
  if (are_too_many || stream_count_ >= 2 * most) [[unlikely]] {
    send_reset(id, NGHTTP2_REFUSED_STREAM);
    std::ignore = allows(resets_, http2_offence::resets);
    return;
  }
  auto* const begun = new server_stream{*this, id, stream_window_, peer_settings_.window_bytes()};
  streams_.push_back(*begun);
  open_.add(*begun);
  ++stream_count_;
  ++begun_;
  headed_ = begun;
}

void server_session::take_fields(std::string_view fragment, bool is_last) {
  if (decoder_.is_lost()) [[unlikely]]
    return pass_over_fields(fragment, is_last);
  const auto outcome = decoder_.decode(
      fragment, is_last,
      [this](std::string_view name, std::string_view value) { return take_field(name, value); });
  if (outcome == decoding::malformed) return terminate(NGHTTP2_COMPRESSION_ERROR);
  if (outcome == decoding::too_long) return take_huge_field(is_last);
  if (outcome == decoding::whole && is_last) end_fields();
}

/// The request is answered as any other whose head is too long. But what comes behind that field
/// cannot be read, nor can later sections, which refer to it: they belong to another connection.
void server_session::take_huge_field(bool is_last) {
  server_stream* const whose = std::exchange(headed_, nullptr);
  if (whose != nullptr && are_trailers_) {
    fail_stream(*whose, NGHTTP2_ENHANCE_YOUR_CALM);
  } else if (whose != nullptr) {
    head_.note_huge_field();
    whose->take_head(section_ends_stream_);
    head_.release();
  }
  leave();  // behind the answer, which some clients do not look at once they have been told
  if (is_last) end_fields();
}

/// Of a request that came before, the trailers: they are passed over in any case, but for their
/// end. As much is read of all of them as of a section that is read.
void server_session::pass_over_fields(std::string_view fragment, bool is_last) {
  section_bytes_ += fragment.size();
  if (section_bytes_ > bomb_times * host_.limits.head_bytes)
    return cut_offender(http2_offence::header_bomb);
  if (is_last) end_fields();
}

bool server_session::take_field(std::string_view name, std::string_view value) {
  std::uint64_t bytes = 0;
  if (headed_ != nullptr && !are_trailers_) [[likely]] {
    head_.add(name, value);
    bytes = head_.list_bytes();
  } else {
    if (are_trailers_ && !take_trailer(name, value)) headed_ = nullptr;
    section_bytes_ += name.size() + value.size();
    bytes = section_bytes_;
  }
  if (bytes <= bomb_times * host_.limits.head_bytes) [[likely]]
    return true;
  cut_offender(http2_offence::header_bomb);
  return false;
}

/// They are passed over. False: they are not wanted any more.
bool server_session::take_trailer(std::string_view name, std::string_view value) {
  if (headed_ == nullptr) return true;
  // What a request has in its head is judged by the parser of HTTP/1.1.
  trailers_are_malformed_ |= !may_stand(name, value) || !is_field_value(value);
  if (section_bytes_ + name.size() + value.size() <= host_.limits.trailer_bytes) return true;
  fail_stream(*headed_, NGHTTP2_ENHANCE_YOUR_CALM);
  return false;
}

void server_session::end_fields() {
  head_due_ = time_point::max();
  if (headed_ == nullptr) [[unlikely]]
    return;
  server_stream& whose = *std::exchange(headed_, nullptr);
  if (!are_trailers_) [[likely]] {
    whose.take_head(section_ends_stream_);
    head_.release();
  } else if (!section_ends_stream_ || trailers_are_malformed_) {
    fail_stream(whose, NGHTTP2_PROTOCOL_ERROR);
  } else {
    take_body_end(whose);
  }
}

// ---- bodies -----------------------------------------------------------------------------------

server_stream* server_session::receiver_of(const frame& come) noexcept {
  server_stream* const whose = open_.find(come.stream);
  if (whose == nullptr) {
    if (is_unused(come.stream))
      terminate(NGHTTP2_PROTOCOL_ERROR);
    else if (!is_beyond_goodbye(come.stream))
      std::ignore = judge(come.stream);
    return nullptr;
  }
  if (whose->last_word) return nullptr;  // it does not know yet
  if (!whose->has_come_whole()) return whose;
  terminate(NGHTTP2_STREAM_CLOSED);
  return nullptr;
}

void server_session::take_data(const frame& come) {
  server_stream* whose = nullptr;
  if (come.begins) {
    if (!in_window_.take(come.length)) return terminate(NGHTTP2_FLOW_CONTROL_ERROR);
    whose = receiver_of(come);
    if (input_ended_) return;
    if (whose != nullptr && !whose->in_window.take(come.length)) {
      fail_stream(*whose, NGHTTP2_FLOW_CONTROL_ERROR);
      whose = nullptr;
    }
    consume_connection(come.padding_bytes);
    if (whose != nullptr) consume_stream(*whose, come.padding_bytes);
    const bool is_idle = come.length <= come.padding_bytes && !come.has(NGHTTP2_FLAG_END_STREAM);
    if (is_idle && !allows(idle_frames_, http2_offence::idle_frames)) return;
  } else {
    whose = open_.find(come.stream);  // which may have gone meanwhile
  }
  if (whose == nullptr || whose->is_ending()) return consume_connection(come.payload.size());
  if (!come.payload.empty()) whose->take_data(come.payload);
  if (come.ends && come.has(NGHTTP2_FLAG_END_STREAM) && !whose->is_ending()) take_body_end(*whose);
}

void server_session::take_body_end(server_stream& whose) {
  whose.take_end();
  if (whose.is_answered()) end_quietly(whose);  // what was spoken over it was over before
}

// ---- what is said of streams, and of all ------------------------------------------------------

void server_session::take_reset(std::int32_t id) noexcept {
  server_stream* const whose = open_.find(id);
  if (whose == nullptr) {
    if (is_unused(id)) terminate(NGHTTP2_PROTOCOL_ERROR);
    return;
  }
  whose->last_word.reset();
  // A reply that has not left yet was made for nothing as well.
  const bool is_early = whose->is_ending() || !whose->is_answered();
  close(*whose);
  if (is_early) std::ignore = allows(resets_, http2_offence::resets);
}

void server_session::take_settings(const frame& come) noexcept {
  if (come.has(NGHTTP2_FLAG_ACK)) {
    if (std::exchange(knows_settings_, true)) return terminate(NGHTTP2_PROTOCOL_ERROR);
    const std::int64_t known = host_.limits.http2.stream_window_bytes;
    for (server_stream& each : streams_) {
      each.in_window.resize(known);
      consume_stream(each, 0);  // what is due may be half of the new one
    }
    stream_window_ = known;
    return;
  }
  const std::int64_t before = peer_settings_.window_bytes();
  const std::uint32_t wrong = peer_settings_.take(come.payload);
  if (wrong != NGHTTP2_NO_ERROR) return terminate(wrong);
  encoder_.limit_table(peer_settings_.table_bytes());
  send_frame({.type = NGHTTP2_SETTINGS, .flags = NGHTTP2_FLAG_ACK}, {}, http2_offence::idle_frames);
  const std::int64_t more = peer_settings_.window_bytes() - before;
  if (more == 0) return;
  for (server_stream& each : streams_) {
    if (each.is_closed() || each.is_ending()) continue;
    each.out_window += more;
    if (each.out_window > window_most_bytes) return terminate(NGHTTP2_FLOW_CONTROL_ERROR);
    if (each.queued_bytes() != 0) send_soon(each);
  }
}

/// This begins no streams: all that a client may say of the last of them is less each time.
void server_session::take_goaway(std::string_view payload) noexcept {
  const std::int32_t last = read_id(payload.data());
  if (last > client_goodbye_) return terminate(NGHTTP2_PROTOCOL_ERROR);
  client_goodbye_ = last;
}

void server_session::take_window(const frame& come) noexcept {
  const std::int32_t more = read_id(come.payload.data());
  if (come.stream != 0 && is_unused(come.stream)) return terminate(NGHTTP2_PROTOCOL_ERROR);
  if (more == 0) return terminate(NGHTTP2_PROTOCOL_ERROR);
  if (come.stream == 0) {
    out_window_ += more;
    if (out_window_ > window_most_bytes) terminate(NGHTTP2_FLOW_CONTROL_ERROR);
    return;
  }
  server_stream* const whose = open_.find(come.stream);
  if (whose == nullptr || whose->is_ending()) return;
  whose->out_window += more;
  if (whose->out_window > window_most_bytes)
    fail_stream(*whose, NGHTTP2_FLOW_CONTROL_ERROR);
  else if (whose->queued_bytes() != 0)
    send_soon(*whose);
}

}  // namespace weft::http::http2

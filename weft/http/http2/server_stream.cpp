#include <weft/http/http2/server_stream.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/http/active_request.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/http2/queued_text.hpp>
#include <weft/http/http2/server_session.hpp>
#include <weft/http/http2/server_tunnel.hpp>
#include <weft/http/log_dropped.hpp>
#include <weft/http/problem.hpp>
#include <weft/http/reply_head.hpp>
#include <weft/http/request_parser.hpp>
#include <weft/http/target.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft::http::http2 {

server_stream::server_stream(server_session& session, std::int32_t id, std::int64_t inbound_bytes,
                             std::int64_t outbound_bytes)
    : carrier{session.host(), true, session.host().stopping.stop_requested()},
      stream_table<server_stream>::entry{id},
      stream_flow{inbound_bytes, outbound_bytes},
      lazy_timer{session.host().loop, timeout_kind},
      session_{session},
      in_{session.host().loop.buffers()},
      out_{session.host().loop.buffers()} {}

server_stream::~server_stream() { session_.forget(*this); }

void* server_stream::operator new(std::size_t size_bytes) {
  return frame_pool::allocate(size_bytes);
}

void server_stream::operator delete(void* memory, std::size_t size_bytes) noexcept {
  frame_pool::deallocate(memory, size_bytes);
}

active_request& server_stream::work() const noexcept { return work_ ? *work_ : *host_.desk; }

std::string_view server_stream::forwarded_scheme() const noexcept {
  return work().is_client_known ? work().known->scheme : std::string_view{};
}

const net::tls_info* server_stream::tls() const noexcept { return session_.tls(); }

const connection_peer& server_stream::peer() { return session_.peer(); }

// ---- the request ------------------------------------------------------------------------------

std::optional<protocol_fault> server_stream::read_head(active_request& into) {
  request_text& head = session_.head();
  if (const auto wrong = head.finish()) return wrong;
  request_parser parser;
  const bool is_read = parser.parse(head.text(), into.head, host_.limits) == parse_status::complete;
  if (!is_read) return parser.fault();
  // Each field is one line, and nothing follows: what a field says cannot have become another.
  const bool is_whole =
      into.head.headers().size() == head.fields() && into.head.size_bytes() == head.text().size();
  if (!is_whole) return describe(fault_kind::bad_value, 0);
  const bool is_unknown =
      head.asks_for_tunnel() && !equals_ignoring_case(head.asked_protocol(), "websocket");
  if (into.head.form() == target_form::authority || is_unknown)
    return protocol_fault{.code = status::not_implemented,
                          .reason = "this server opens no tunnels but WebSockets",
                          .offset_bytes = 0};
  return std::nullopt;
}

void server_stream::take_head(bool ends) {
  in_ended_ = ends;
  active_request& desk = *host_.desk;
  const auto wrong = read_head(desk);
  if (session_.head().is_malformed()) return refuse_malformed();
  if (wrong) return refuse(wrong->code, wrong->reason);
  if (const auto& wish = session_.head().priority()) priority = *wish;
  asks_for_tunnel_ = session_.head().asks_for_tunnel();
  if (!ends && !asks_for_tunnel_) return take_head_of_body();
  if (desk.head.content_length().value_or(0) != 0) return refuse_malformed();
  desk.body = {};
  desk.body_bytes = 0;
  answer_in_turn(desk);
}

/// Some of the body is still to come.
void server_stream::take_head_of_body() {
  keep_work();
  active_request& work = *work_;
  still_to_come_ = work.head.content_length();
  if (!still_to_come_) work.head.note_unknown_length();
  host_.routes.find(work.head.method(),
                    work.head.path_needs_normalizing()
                        ? normalize_path(work.head.path(), work.normalized)
                        : work.head.path(),
                    work.match);
  work.bounds = &host_.bounds_of(work.match);
  work.body = {};
  work.body_bytes = 0;
  if (host_.is_too_long(work.head, work.match))
    return refuse(status::content_too_large, "the body is longer than this path takes");
  if (host_.routes.is_called_at_head(work.match, work.head.headers())) {
    work.reader.reset(new body_reader{*this, work});
    return answer(work);
  }
  begin_gathering();
}

void server_stream::keep_work() {
  auto next = std::make_unique_for_overwrite<active_request>();
  work_ = std::exchange(host_.desk, std::move(next));
  head_ = session_.head().take();
  count_self();
}

void server_stream::count_self() noexcept {
  // A request without its head's text, this, and what a queue keeps beside texts.
  constexpr std::size_t own_bytes = 4 * 1024;
  if (!held_) held_ = loop_.memory().hold(memory_kind::requests, own_bytes + head_.capacity());
}

std::size_t server_stream::held_bytes() const noexcept {
  return held_.bytes() + out_.counted_bytes() + in_.counted_bytes() +
         (work_ ? work_->memory.bytes() : 0);
}

void server_stream::take_data(std::string_view data) {
  loop_.note_produced(data.size());  // others have their turn within a long body, too
  if (drops_input_) return session_.consume(*this, data.size());
  if (still_to_come_) {
    if (data.size() > *still_to_come_) {
      session_.consume(*this, data.size());
      return refuse_malformed();
    }
    *still_to_come_ -= data.size();
  }
  if (gathers_) return gather(data);
  if (in_.size() > inline_body_bytes && loop_.memory().is_short(memory_priority::high))
      [[unlikely]] {
    session_.consume(*this, data.size());
    return reset(NGHTTP2_ENHANCE_YOUR_CALM);
  }
  append_in_pieces(in_, data);
  owed_ += data.size();
  tell_of_input();
}

void server_stream::tell_of_input() noexcept {
  has_come_.set();
  if (tunnel_ != nullptr) tunnel_->note_input();
}

/// What fits one slot stays there, and needs no other memory.
void server_stream::gather(std::string_view data) {
  active_request& work = *work_;
  if (gathered_ + data.size() > work.bounds->body_bytes) {
    session_.consume(*this, data.size());
    return refuse(status::content_too_large, "the body is longer than this path takes");
  }
  if (!has_memory_for(data)) return session_.consume(*this, data.size());
  gathered_ += data.size();
  session_.note_gathered(data.size());
  if (work.decoded.empty() && in_.size() + data.size() <= piece_bytes) {
    in_.append(data);
  } else {
    if (work.decoded.empty()) work.decoded.reserve(work.head.content_length().value_or(0));
    work.note();
    move_all(in_, work.decoded);
    work.decoded.append(data);
  }
  if (withheld_ == 0) withheld_since_ = loop_.now();
  withheld_ += data.size();
  if (waits_for_memory_) {
    owed_ += data.size();
    return;
  }
  session_.consume_connection(data.size());  // others must not wait for this one's turn
  if (session_.may_gather(*this))
    release_window();
  else
    set(time_point::max());  // it is not the client that is slow
}

void server_stream::release_window() noexcept {
  if (withheld_ == 0 || waits_for_memory_) return;
  session_.consume_stream(*this, std::exchange(withheld_, 0));
  pace_->forgive(loop_.now() - withheld_since_);
  set(pace_->due(loop_.now(), gathered_));
}

void server_stream::take_end() {
  if (!drops_input_ && still_to_come_.value_or(0) != 0) return refuse_malformed();
  in_ended_ = true;
  if (!gathers_) return tell_of_input();
  if (!waits_for_memory_) finish_gathering();
}

void server_stream::finish_gathering() {
  gathers_ = false;
  set(time_point::max());
  active_request& work = *work_;
  if (!in_.empty() && in_.in_one_piece().empty()) {
    work.note();
    move_all(in_, work.decoded);
  }
  work.body = work.decoded.empty() ? in_.in_one_piece() : std::string_view{work.decoded};
  work.body_bytes = gathered_;
  session_.forget_gathered(0);  // another is the oldest
  answer_in_turn(work);
}

/// What the handler still looks at stays.
void server_stream::drop_input() noexcept {
  drops_input_ = true;
  set(time_point::max());
  if (owed_ != 0) session_.consume_connection(std::exchange(owed_, 0));
  const bool has_gathered = std::exchange(gathers_, false) || gathered_ != 0;
  if (has_gathered) session_.forget_gathered(std::exchange(gathered_, 0));
}

// ---- who answers it ---------------------------------------------------------------------------

void server_stream::answer_in_turn(active_request& work) {
  if (session_.may_answer()) [[likely]]
    return answer(work);
  // A reply would have to wait as well. The client may ask again (RFC 9113 section 8.7).
  if (loop_.memory().is_short(memory_priority::high)) {
    loop_.memory().note_refused();
    return reset(NGHTTP2_REFUSED_STREAM);
  }
  if (!work_) keep_work();
  session_.stand_in_line(*this);
}

void server_stream::take_turn() { answer(*work_); }

void server_stream::answer(active_request& work) {
  call_handler(work);
  if (!work.reply->work) return complete(work);
  if (!work_) keep_work();
  start_work();
}

void server_stream::call_handler(active_request& work) {
  const parsed_head& head = work.head;
  ++host_.requests;
  const std::string_view path =
      head.path_needs_normalizing() ? normalize_path(head.path(), work.normalized) : head.path();
  host_.routes.find(head.method(), path, work.match);
  work.reply.emplace(head, path, work.match, work.body, *this, work, true, true);
  try {
    host_.dispatch(head, work.match, *work.reply);
  } catch (...) {
    work.reply->work.reset();
    work.reply->report_exception();
  }
}

void server_stream::start_work() {
  to_begin_.emplace(work_on());
  is_worked_for_ = true;
  session_.begin_in_turn(*this);
}

void server_stream::begin_work() noexcept {
  task<void> work = std::move(*to_begin_);
  to_begin_.reset();  // which may be the end of this
  host_.workers.start_in(host_.workers.inherited(), std::move(work));
}

task<void> server_stream::work_on() {
  stop_source stop{host_.stopping};
  stop_ = &stop;
  if (is_closed_) stop.request_stop();
  try {
    co_await run_handler();
    stop_handler_clock();
    complete(*work_);
  } catch (const std::exception& why) {
    log_dropped(why, "a stream");
    reset(NGHTTP2_INTERNAL_ERROR);
  }
  stop_ = nullptr;
  is_worked_for_ = false;
  work_.reset();
  session_.flush_later();
  if (is_closed_ && !is_spoken_over()) delete this;
}

task<void> server_stream::run_handler() {
  active_request& work = *work_;
  work.bounds = &host_.bounds_of(work.match);
  start_handler_clock();
  const environment env{.stop = stop_->token(), .runs_on = &loop_, .owner = host_.owner};
  const time_point begun = loop_.now();
  const connection_host::use in_use{host_, work.match};
  const environment of_handler = work.of_handler(env, in_use.owner());
  try {
    co_await std::move(*work.reply->work).in(of_handler);
  } catch (...) {
    work.reply->report_exception();
  }
  work.reply->work.reset();  // while its service is kept
  host_.counts.waits.record(loop_.now() - begun);
}

void server_stream::start_handler_clock() noexcept {
  if (work_->bounds != nullptr) set(loop_.now() + work_->bounds->handler_timeout);
}

void server_stream::complete(active_request& work) {
  work.reply->expect_reply();
  if (work.reader || work.writer) finish_streams(work);
  host_.counts.replied(*work.reply->replied_with());
  session_.note_answered();
  work.reply.reset();
  if (work.has_texts) [[unlikely]]
    work.clear_texts();
  if (work.upgrade != nullptr) return hand_over(std::move(work.upgrade));
  if (!out_ends_) reset(NGHTTP2_INTERNAL_ERROR);
  drop_input();
  in_.clear();
}

void server_stream::finish_streams(active_request& work) {
  if (work.writer && work.writer->is_begun() && !work.writer->is_whole())
    log::warning(weft::format("the reply to {} {} ends early, after {} bytes of its body",
                              to_string(work.head.method()), work.reply->request().path(),
                              work.writer->written_bytes()));
  work.reader.reset();
  work.writer.reset();
}

/// Replies to what no handler is called for.
void server_stream::refuse(status code, std::string_view reason, std::string_view fields) {
  drop_input();
  std::string body;
  write_problem({.status = code, .detail = reason}, body);
  host_.counts.replied(code);
  const bool is_head = work_ ? work_->head.method() == method::head : session_.head().is_head();
  const std::string all = std::string{fields} + (work_ ? host_.cors_fields(work_->head)
                                                       : host_.cors_fields(session_.head().text()));
  send_reply({.code = code,
              .start = host_.reply_start(),
              .content_type = problem_content_type,
              .content_length = body.size(),
              .fields = all},
             is_head ? std::string_view{} : std::string_view{body}, nullptr);
  session_.note_answered();
}

void server_stream::refuse_malformed() noexcept {
  drop_input();
  session_.fail_stream(*this, NGHTTP2_PROTOCOL_ERROR);
}

void server_stream::reset(std::uint32_t code) noexcept {
  is_answered_ = true;
  session_.end_stream(*this, code);
}

void server_stream::take_close() noexcept {
  is_closed_ = true;
  drop_input();
  for (list_hook* const each : {&in_line, &in_ready, &in_ending})
    if (each->is_linked()) each->unlink();
  session_.note_sent(std::exchange(whole_, 0));
  out_.clear();
  tell_of_input();
  has_room_.set();
  if (!is_worked_for()) {
    delete this;
    return;
  }
  if (stop_ != nullptr) stop_->request_stop();
}

void server_stream::on_timeout(lazy_timer& self) noexcept {
  auto& s = static_cast<server_stream&>(self);
  if (s.gathers_) {
    try {
      s.refuse(status::request_timeout, "the request's body took too long");
    } catch (const std::exception&) {
      s.reset(NGHTTP2_INTERNAL_ERROR);
    }
    s.session_.flush_later();
  } else if (s.stop_ != nullptr) {
    s.stop_->request_stop();
  }
}

}  // namespace weft::http::http2

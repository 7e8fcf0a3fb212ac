#include <weft/http/connection.hpp>

#include <atomic>
#include <exception>
#include <source_location>
#include <utility>

#include <weft/coro/frame_pool.hpp>
#include <weft/coro/running_task.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/http2/library.hpp>
#include <weft/http/http2/server_session.hpp>
#include <weft/http/log_dropped.hpp>
#include <weft/http/send_pace.hpp>
#include <weft/http/target.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::http {
namespace {

using wait = active_request::wait;

/// Many small requests that have come together are answered together, so that they share system
/// calls: together they cost no more than one larger one. Beyond, others have their turn.
constexpr unsigned requests_per_turn = 16;
constexpr std::size_t produced_per_turn_bytes = 8 * 1024;

}  // namespace

connection::connection(connection_host& host, net::tcp_stream stream,
                       const std::optional<connection_peer>& named)
    : carrier{host, false, host.stopping.stop_requested()},
      lazy_timer{host.loop, timeout_kind},
      stream_receiver{&on_received},
      stream_{std::move(stream)} {
  if (named) peer_ = std::make_unique<const connection_peer>(*named);
  join(host);
}

void* connection::operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }

void connection::operator delete(void* memory, std::size_t size_bytes) noexcept {
  frame_pool::deallocate(memory, size_bytes);
}

void connection::on_received(stream_receiver& self) noexcept {
  weft::detail::running.resumed_at.store(std::source_location::current(),
                                         std::memory_order_relaxed);
  static_cast<connection&>(self).go_on(true);
}

// In every turn of go_on().
[[gnu::always_inline]] inline void connection::expect_request() {
  const limits& most = host_.limits;
  set(loop_.now() + (answered_ == 0 ? most.header_timeout : most.keep_alive_timeout));
}

[[gnu::always_inline]] inline bool connection::take(result<buffer_ref>&& bytes) {
  if (left_) [[unlikely]]
    return bytes.has_value();
  if (bytes) {
    host_.counts.received_bytes.add(bytes->size());
    if (!input_) host_.lend_input(input_);
    input_->bytes.append(std::move(*bytes));
    return true;
  }
  if (timed_out_ && head_is_late_)
    refuse(status::request_timeout, "the request's head took too long");
  return refused_;
}

[[gnu::always_inline]] inline void connection::prepare_to_read() {
  if (host_.grace_is_over) [[unlikely]]
    leave_if_idle();
  if (left_) return;
  if (input_ && !input_->bytes.empty()) [[unlikely]]
    return prepare_to_read_rest();
  if (input_) host_.take_back(input_);
  expect_request();
}

[[gnu::always_inline]] inline bool connection::answer() {
  if (answer(*host_.desk, step::parse)) {
    if (!must_linger() || host_.desk->upgrade != nullptr) return true;
    if (speaks_http2_) {
      http2::server_session::begin(host_, std::move(stream_), known_peer(), received());
      return true;
    }
    host_.desk->waits_for = wait::client;
  }
  if (host_.desk->waits_for == wait::turn) {
    set(time_point::max());
    stream_receiver::give_way(loop_, &on_turn);
    return false;
  }
  task<void> rest = answer_waiting();
  waiting_ = std::exchange(host_.desk, std::make_unique_for_overwrite<active_request>());
  set(time_point::max());
  host_.workers.spawn(std::move(rest));
  return false;
}

void connection::on_turn(stream_receiver& self) noexcept {
  weft::detail::running.resumed_at.store(std::source_location::current(),
                                         std::memory_order_relaxed);
  auto& c = static_cast<connection&>(self);
  try {
    if (!c.answer()) return;
  } catch (const std::exception& why) {
    log_dropped(why);
    c.host_.desk->abandon();
    c.keep_ = false;
  }
  c.go_on(false);
}

void connection::go_on(bool has_received) noexcept {
  try {
    for (; keep_; has_received = false) {
      if (!has_received) {
        prepare_to_read();
        if (!is_cut_ && !stream_receiver::begin(stream_)) return;
      }
      const bool reads = has_received || !is_cut_;
      if (!take(reads ? stream_receiver::take(stream_) : fail(errc::cancelled))) break;
      if (!left_ && !answer()) return;
    }
  } catch (const std::exception& why) {
    log_dropped(why);
    host_.desk->abandon();
  }
  if (host_.desk->upgrade != nullptr) return hand_over(std::move(host_.desk->upgrade));
  delete this;
}

bool connection::answer(active_request& work, step next) {
  for (unsigned left = requests_per_turn - 1;; next = step::parse, --left) {
    if (next == step::parse) {
      if (!next_request(work)) break;
      if (!body_has_come(work) && !rest_has_come(work)) [[unlikely]] {
        work.waits_for = wait::body;
        return false;
      }
    }
    if (next != step::complete) {
      call_handler(work, keeps_alive(work.head));
      if (work.reply->work) {
        work.waits_for = wait::handler;
        return false;
      }
    }
    if (!complete(work)) {
      work.waits_for = wait::room;
      return false;
    }
    if (!keep_ || input_->bytes.empty()) break;
    if (left == 0 || stream_.queued_bytes() >= produced_per_turn_bytes) {
      loop_.note_produced(stream_.queued_bytes());
      work.waits_for = wait::turn;
      return false;
    }
  }
  work.waits_for = wait::room;
  return stream_.pump();
}

task<void> connection::answer_waiting() {
  stop_source stop{host_.stopping};
  const environment env{.stop = stop.token(), .runs_on = &loop_, .owner = host_.owner};
  stop_ = &stop;
  std::unique_ptr<upgraded> next;
  try {
    active_request& work = *waiting_;
    bool has_begun = false;
    for (bool done = false; !done;) {
      // Others have their turn between two requests, however soon each is answered.
      if (std::exchange(has_begun, true)) {
        loop_.note_produced(stream_.queued_bytes());
        co_await yield{loop_};
      }
      switch (work.waits_for) {
        case wait::body:
          // Before a handler has views of the head. One in chunks may have come whole.
          if (!work.head.chunked()) leave_slot(work);
          find_route(work);
          work.bounds = &host_.bounds_of(work.match);
          if (host_.is_too_long(work.head, work.match)) {
            refuse(status::content_too_large, "the body is longer than this path takes");
            done = true;
          } else if (streams_body(work)) {
            call_streaming_handler(work);
            work.waits_for = wait::handler;
            has_begun = false;
          } else if (needs_memory(work) && !co_await reserve(work).in(env)) {
            done = true;
          } else {
            done = !co_await receive_body(work).in(env) || answer(work, step::handle);
          }
          break;
        case wait::handler:
          work.bounds = &host_.bounds_of(work.match);
          if (work.reply->work) {
            start_handler_clock();
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
          if (work.reader || work.writer) co_await finish_streams(work).in(env);
          stop_handler_clock();
          done = answer(work, step::complete);
          break;
        case wait::room: done = !co_await make_room().in(env) || answer(work, step::parse); break;
        case wait::turn: done = answer(work, step::parse); break;
        case wait::client: done = true; break;
      }
    }
    next = std::move(waiting_->upgrade);
    waiting_.reset();
    if (next == nullptr && must_linger()) co_await linger();
  } catch (const std::exception& why) {
    log_dropped(why);
    keep_ = false;
  }
  is_cut_ = is_ending();
  stop_ = nullptr;
  if (next != nullptr) co_return hand_over(std::move(next));
  go_on(false);  // which may be the end of this
}

task<bool> connection::make_room() {
  input_->bytes.leave_slot();  // no handler looks at it between two requests
  waiting_->untaken.reset();
  set(loop_.now() + first_look(host_.limits));
  if (!co_await stream_.drain()) keep_ = false;
  set(time_point::max());
  co_return keep_;
}

void connection::prepare_to_read_rest() {
  input_->bytes.leave_slot();
  if (!begins_request(received())) {
    expect_request();
  } else if (!std::exchange(head_is_late_, true)) {
    // Counted from the first byte, so that sending one a second does not keep a connection.
    set(loop_.now() + host_.limits.header_timeout);
  }
}

// The steps of answer(), each with one caller, which every request takes.
[[gnu::always_inline]] inline bool connection::next_request(active_request& work) {
  if (!keep_ || input_->bytes.empty()) return false;
  parsed_head& head = work.head;
  switch (input_->parser.parse(input_->bytes.text(), head, host_.limits)) {
    case parse_status::incomplete:
      if (loop_.memory().is_short(memory_priority::high)) [[unlikely]]
        keep_or_refuse_head();
      return false;
    case parse_status::failed: {
      if (answered_ == 0 && begins_http2()) [[unlikely]]
        return false;
      const protocol_fault why = input_->parser.fault();
      refuse(why.code, why.reason);
      return false;
    }
    case parse_status::complete: break;
  }
  head_is_late_ = false;
  if (head.form() == target_form::authority) {
    // What comes next was meant for the tunnel: it is no request (RFC 9110 section 9.3.6).
    refuse(status::not_implemented, "this server opens no tunnels");
    return false;
  }
  if (head.content_length().value_or(0) > host_.limits.body_bytes && !takes_more(work)) {
    refuse(status::content_too_large, "the body is longer than this server takes");
    return false;
  }
  return true;
}

/// Whoever begins as no request of HTTP/1.1 can (RFC 9113 section 3.3). Over TLS that is agreed on
/// before.
bool connection::begins_http2() noexcept {
  const std::string_view preface = received();
  if (!host_.serves_http2 || tls() != nullptr) return false;
  if (http2::client_preface.starts_with(preface)) {
    input_->parser.reset();
    if (preface.size() < http2::client_preface.size()) return true;
  } else if (!preface.starts_with(http2::client_preface)) {
    return false;
  }
  speaks_http2_ = true;
  keep_ = false;
  return true;
}

bool connection::body_has_come(active_request& work) {
  const parsed_head& head = work.head;
  if (head.chunked()) return false;
  const std::string_view behind = input_->bytes.text().substr(head.size_bytes());
  work.body_bytes = head.content_length().value_or(0);
  if (behind.size() < work.body_bytes) return false;
  work.body = behind.substr(0, work.body_bytes);
  return true;
}

/// Who sends a body that is longer than a buffer has sent all of it by now, as a rule: then it is
/// not worth a task, nor memory of its own while others are looked at.
bool connection::rest_has_come(active_request& work) {
  if (work.head.chunked() || work.head.expect_continue()) return false;
  find_route(work);
  if (host_.routes.is_called_at_head(work.match, work.head.headers())) return false;
  if (work.body_bytes > host_.bounds_of(work.match).body_bytes) return false;
  if (work.body_bytes > inline_body_bytes && !reserve_now(work)) return false;
  while (stream_receiver::receive_now(stream_)) {
    if (!take(stream_receiver::take(stream_))) return false;  // as whoever waits is told again
    work.head.rebase(received().data());
    if (body_has_come(work)) return true;
  }
  return false;
}

[[gnu::always_inline]] inline std::string_view connection::find_route(active_request& work) {
  const parsed_head& head = work.head;
  const std::string_view path =
      head.path_needs_normalizing() ? normalize_path(head.path(), work.normalized) : head.path();
  host_.routes.find(head.method(), path, work.match);
  return path;
}

[[gnu::always_inline]] inline void connection::call_handler(active_request& work, bool keep_alive) {
  const parsed_head& head = work.head;
  ++host_.requests;
  const std::string_view path = find_route(work);
  const bool more_has_come =
      begins_request(input_->bytes.text().substr(head.size_bytes() + work.body_bytes));
  work.reply.emplace(head, path, work.match, work.body, *this, work, keep_alive, more_has_come);
  try {
    host_.dispatch(head, work.match, *work.reply);
  } catch (...) {
    work.reply->work.reset();
    work.reply->report_exception();
  }
}

/// Whether the path that is asked for takes longer bodies than others do.
bool connection::takes_more(active_request& work) {
  find_route(work);
  return !host_.is_too_long(work.head, work.match);
}

bool connection::streams_body(active_request& work) {
  if (!host_.routes.is_called_at_head(work.match, work.head.headers())) return false;
  work.reader.reset(new body_reader{*this, work});
  // What has come is the reader's.
  work.body = {};
  work.body_bytes = received().size() - work.head.size_bytes();
  return true;
}

void connection::call_streaming_handler(active_request& work) {
  // Should the body be left unread, the reply must say so.
  call_handler(work, keeps_alive(work.head) && work.reader->may_be_left());
}

const connection_peer& connection::peer() {
  if (!peer_)
    peer_ = std::make_unique<const connection_peer>(connection_peer::of(stream_.peer_endpoint()));
  return *peer_;
}

std::string_view connection::forwarded_scheme() const noexcept {
  const active_request& work = waiting_ ? *waiting_ : *host_.desk;
  return work.is_client_known ? work.known->scheme : std::string_view{};
}

bool connection::keeps_alive(const parsed_head& head) const noexcept {
  const std::uint32_t most = host_.limits.requests_per_connection;
  const bool last = most != 0 && answered_ + 1 >= most;
  return head.keep_alive() && !last;
}

[[gnu::always_inline]] inline bool connection::complete(active_request& work) {
  exchange& reply = *work.reply;
  if (!reply.replied()) [[unlikely]]
    reply.expect_reply();
  ++answered_;
  host_.counts.replied(*reply.replied_with());
  keep_ = reply.keep_alive();
  // Who asks for the end sends no more (RFC 9112 section 9.6), or an empty line behind a body.
  const bool was_asked = !work.head.keep_alive() && work.body_bytes == 0;
  if (!keep_) refused_ = work.upgrade == nullptr && !was_asked;
  input_->bytes.consume(work.head.size_bytes() + work.body_bytes);
  input_->parser.reset();
  work.reply.reset();
  if (work.has_texts) [[unlikely]]
    work.clear_texts();
  if (!keep_ && host_.draining.stop_requested()) [[unlikely]]
    return stream_.pump();  // the sooner the client knows, the less it sends that is not read
  return stream_.queued_bytes() <= net::tcp_stream::high_watermark;
}

}  // namespace weft::http

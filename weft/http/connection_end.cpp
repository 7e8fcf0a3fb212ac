// How connections end: refused, turned away, told that this is the end, left by clients, or cut.
#include <weft/http/connection.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/log_dropped.hpp>
#include <weft/http/problem.hpp>
#include <weft/http/reply_head.hpp>
#include <weft/http/send_pace.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft::http {
namespace {

/// How long a refused client may send nothing, and how long and how much it may go on sending,
/// before the connection is cut. Many clients look for a reply only when they have sent all.
constexpr duration linger_time = std::chrono::seconds{2};
constexpr duration linger_time_in_all = std::chrono::seconds{10};
constexpr std::size_t linger_bytes = std::size_t{64} * 1024 * 1024;
/// As linger_bytes, for a connection beyond the limit.
constexpr std::size_t crowd_linger_bytes = std::size_t{256} * 1024;
/// As linger_time, for a client that is told the end between two requests while the server drains:
/// what it has sent before it heard of that arrives within a round trip.
constexpr duration leaving_time = std::chrono::milliseconds{500};

/// The last reply of a connection, to what is no request or is not taken.
void write_refusal(net::tcp_stream& stream, connection_host& host, status code,
                   std::string_view reason, std::string_view fields, bool to_head) {
  std::string body;
  write_problem({.status = code, .detail = reason}, body);
  const reply_head head{.code = code,
                        .start = host.reply_start(),
                        .content_type = problem_content_type,
                        .content_length = body.size(),
                        .fields = fields,
                        .connection = connection_field::close};
  if (head.most_bytes() <= net::tcp_stream::prepare_most_bytes) {
    char* const begin = stream.prepare(head.most_bytes()).data();
    stream.commit(static_cast<std::size_t>(head.write(begin) - begin));
  } else {
    std::string text(head.most_bytes(), '\0');
    text.resize(static_cast<std::size_t>(head.write(text.data()) - text.data()));
    stream.append(std::move(text));
  }
  if (!to_head) stream.append(std::move(body));
}

/// Whether a request asks for no content, whatever else is wrong with it (RFC 9110 section 9.3.2).
bool asks_for_head(std::string_view request) noexcept {
  if (request.starts_with("\r\n")) request.remove_prefix(2);
  return request.starts_with("HEAD ");
}

}  // namespace

void connection::turn_away(std::unique_ptr<connection> self) {
  // Now, not when the task begins: whoever comes before that is measured against it.
  self->turned_away_ = true;
  connection_host& host = self->host_;
  ++host.turned_away;
  if (!host.has_policies()) self->refuse_for_crowd({});
  host.workers.spawn([](std::unique_ptr<connection> refused) -> task<void> {
    try {
      if (!refused->refused_) {
        const environment patience{.stop = refused->host_.stopping,
                                   .until = deadline::at(refused->loop_.now() + linger_time),
                                   .runs_on = &refused->loop_,
                                   .owner = refused->host_.owner};
        const std::string head = co_await refused->hear_head().in(patience);
        refused->refuse_for_crowd(head);
      }
      co_await refused->linger();
    } catch (const std::exception& why) {
      log_dropped(why);
    }
  }(std::move(self)));
}

/// As much of a request as says who may read the answer, or what has come of it in time.
task<std::string> connection::hear_head() {
  std::string head;
  while (head.size() < host_.limits.head_bytes && !head.contains("\r\n\r\n")) {
    const auto bytes = co_await stream_.read();
    if (!bytes) break;
    head.append(bytes->text());
  }
  co_return head;
}

void connection::refuse_for_crowd(std::string_view head) {
  refuse(status::service_unavailable, "this server has as many connections as it takes", {}, head);
}

void connection::refuse(status code, std::string_view reason, std::string_view fields) {
  refuse(code, reason, fields, received());
}

void connection::refuse(status code, std::string_view reason, std::string_view fields,
                        std::string_view head) {
  keep_ = false;
  refused_ = true;
  host_.counts.replied(code);
  const std::string all = std::string{fields} + host_.cors_fields(head);
  write_refusal(stream_, host_, code, reason, all, asks_for_head(head));
}

void connection::refuse_for_memory() {
  refuse(status::service_unavailable, no_memory_reason, retry_after_field);
}

/// Where the budget is used up. Heads of honest clients often have two packets, and hold little.
void connection::keep_or_refuse_head() {
  constexpr std::size_t part_of_budget = 32;
  const memory_share& memory = loop_.memory();
  const std::size_t shards = std::max<std::size_t>(memory.budget().members(), 1);
  if (memory.in_use(memory_kind::requests) > memory.budget().limit() / part_of_budget / shards)
    refuse_for_memory();
}

void connection::leave_if_idle() noexcept {
  if (left_ || !keep_ || waiting_ != nullptr || begins_request(received()) || stream_.has_input())
    return;
  left_ = true;
  stream_.end_output();
  set(loop_.now() + leaving_time);
}

std::string connection::description() const {
  const auto request = [this](std::string_view path) {
    return weft::format("{} {}", to_string(waiting_->head.method()), path);
  };
  const auto doing = [&]() -> std::string {
    if (left_ || !keep_) return "has been told that this is the end";
    if (waiting_ == nullptr)
      return begins_request(received()) ? "has sent a part of a request's head" : "idle";
    switch (waiting_->waits_for) {
      case active_request::wait::body:
        return "has sent a part of " + request(waiting_->head.path());
      case active_request::wait::handler:
        return "waits for the handler of " + request(waiting_->reply->request().path());
      default: return "has not taken all of its replies";
    }
  };
  const auto peer = stream_.peer_endpoint();
  return weft::format("{} {}", peer ? peer->to_string() : "a client", doing());
}

/// The client is looked after meanwhile (limits::client_look_interval). A request that is answered
/// sooner asks the kernel nothing; a timer of its own it has, as soon as its handler waits.
void connection::start_handler_clock() noexcept {
  waiting_->handler_until = loop_.now() + waiting_->bounds->handler_timeout;
  set(std::min(waiting_->handler_until, loop_.now() + waiting_->bounds->client_look_interval));
}

bool connection::handler_goes_on() noexcept {
  const time_point until = waiting_->handler_until;
  if (until <= loop_.now()) return false;
  if (client_has_gone())
    stop_->request_stop();
  else
    set(std::min(until, loop_.now() + waiting_->bounds->client_look_interval));
  return true;
}

bool connection::client_has_gone() noexcept {
  const peer_state client = stream_.state_of_peer();
  return client == peer_state::gone || (client == peer_state::silent && !host_.serves_half_closed);
}

/// Looked at once in a write_stall_timeout, and early for the first time.
bool connection::client_takes_enough() noexcept {
  const std::size_t left = stream_.untaken_bytes();
  const auto before = std::exchange(waiting_->untaken, left);
  if (before && *before < left + least_taken(host_.limits)) {
    host_.counts.slow_readers.add();
    return false;
  }
  set(loop_.now() + host_.limits.write_stall_timeout);
  return true;
}

void connection::on_timeout(lazy_timer& self) noexcept {
  auto& c = static_cast<connection&>(self);
  if (c.waiting_ && c.waiting_->waits_for == active_request::wait::room && c.client_takes_enough())
    return;
  if (c.waiting_ && c.waiting_->waits_for == active_request::wait::handler && c.handler_goes_on())
    return;
  c.timed_out_ = true;
  if (c.stop_ != nullptr)
    c.stop_->request_stop();
  else
    c.cut();
}

void connection::hand_over(std::unique_ptr<upgraded> to) noexcept {
  net::tcp_stream stream = std::move(stream_);
  delete this;
  upgraded::begin(std::move(to), std::move(stream));
}

connection::~connection() {
  // A server that stops does not wait for whoever takes nothing.
  if (is_cut_ && host_.stopping.stop_requested()) stream_.end_within(leaving_time);
  if (turned_away_) --host_.turned_away;
  leave(host_);
}

bool connection::must_linger() const noexcept {
  if (refused_ || keep_) return refused_;
  return !received().empty() || host_.draining.stop_requested() || stream_.has_input();
}

/// Closing with bytes unread makes the kernel reset the connection, and the client may never see
/// its last reply: so what it still sends is read and dropped for a while (RFC 9112 section 9.6).
task<void> connection::linger() {
  input_.reset();
  // Not in the environment of what was waited for, which a timeout may have stopped.
  const bool drains = host_.draining.stop_requested() && !refused_ && !timed_out_;
  // Who is cut within a body is still sending it: even now there is a moment for that.
  const bool is_cut = host_.stopping.stop_requested() && refused_;
  const duration sending = is_cut   ? leaving_time
                           : drains ? host_.limits.write_stall_timeout
                                    : linger_time;
  environment patience{.stop = is_cut ? stop_token{} : host_.stopping,
                       .until = deadline::at(loop_.now() + sending),
                       .runs_on = &loop_,
                       .owner = host_.owner};
  if (!co_await stream_.shutdown().in(patience)) co_return;
  const bool is_short = drains || is_cut;
  const duration silent = is_short ? leaving_time : linger_time;
  const time_point end = loop_.now() + (is_short || turned_away_ ? silent : linger_time_in_all);
  const std::size_t most_bytes = turned_away_ ? crowd_linger_bytes : linger_bytes;
  for (std::size_t dropped = 0; dropped < most_bytes;) {
    patience.until = deadline::at(std::min(loop_.now() + silent, end));
    const auto size = co_await drop_input().in(patience);
    if (!size) co_return;
    dropped += *size;
    loop_.note_produced(*size);  // others have their turn meanwhile
  }
}

task<result<std::size_t>> connection::drop_input() {
  const auto bytes = co_await stream_.read();
  if (!bytes) co_return fail(bytes.error());
  co_return bytes->size();
}

}  // namespace weft::http

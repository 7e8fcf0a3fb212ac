#include <weft/http/exchange.hpp>

#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include <weft/base/log_parts.hpp>
#include <weft/base/thread_owned.hpp>
#include <weft/http/active_request.hpp>
#include <weft/http/connection.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/problem.hpp>
#include <weft/http/reply_head.hpp>
#include <weft/http/server_timing.hpp>
#include <weft/json/error.hpp>
#include <weft/loop/shared_text.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::http {
namespace {

/// Bodies up to this size are copied behind their head, though their memory could be sent from: one
/// piece leaves with less work than two.
constexpr std::size_t copied_body_bytes = 2048;

/// Room for a body that is written just before its reply; kept, so that a warm request allocates
/// nothing.
struct reply_text {
  std::string text;
};
std::string& scratch() { return thread_owned<reply_text>::here().text; }

/// Whether they leave in one piece. `memory`: the body's, if that may be sent from.
bool fits(const reply_head& head, std::string_view body, const body_memory* memory) noexcept {
  return head.most_bytes() + body.size() <= net::tcp_stream::prepare_most_bytes &&
         (memory == nullptr || body.size() <= copied_body_bytes);
}

status status_of(error why) noexcept {
  switch (why.code()) {
    case errc::not_found: return status::not_found;
    case errc::invalid_argument: return status::bad_request;
    case errc::limit_exceeded: return status::content_too_large;
    case errc::timed_out: return status::gateway_timeout;
    case errc::cancelled:
    case errc::exhausted:
    case errc::unavailable: return status::service_unavailable;
    case errc::unsupported: return status::not_implemented;
    default: return status::internal_server_error;
  }
}

}  // namespace

connection_field exchange::field_for(bool keep_alive) const noexcept {
  if (!keep_alive) return connection_field::close;
  return request_.minor_version() == 0 ? connection_field::keep_alive : connection_field::none;
}

bool exchange::may_keep_alive() const noexcept {
  const carrier& client = request_.client_;
  if (!keep_alive_ || client.is_ending()) return false;
  if (!client.host_.draining.stop_requested() || more_has_come_) return true;
  return (of_.reader && of_.reader->more_has_come()) || client.has_input();
}

std::string_view exchange::all_fields(std::string_view of_reply) {
  if (!of_.fields || of_.fields->empty()) {
    if (!of_.is_timed) return of_reply;
    if (of_reply.empty() && request_.client_.host_.loop.now() == of_.timed_since)
      return at_once_timing_field;
  }
  return join_fields(of_reply);
}

std::string_view exchange::join_fields(std::string_view of_reply) {
  std::string& all = added_fields();
  if (of_.is_timed)
    append_server_timing_field(all, request_.client_.host_.loop.now() - of_.timed_since);
  return all.append(of_reply);
}

std::string& exchange::added_fields() {
  if (!of_.fields) of_.fields = std::make_unique<std::string>();
  of_.note();
  return *of_.fields;
}

void exchange::time_reply() {
  of_.timed_since = request_.client_.host_.loop.now();
  of_.is_timed = of_.has_texts = true;
}

result<void> exchange::add_field(std::string_view name, std::string_view value) {
  if (!response::may_add(name, value)) return fail(errc::invalid_argument);
  added_fields().append(name).append(": ").append(value).append("\r\n");
  return {};
}

// Whoever is awaited stands in `work`, and must stay there.
task<void> exchange::run(handler& next) {
  std::optional<task<void>> awaited = std::exchange(work, std::nullopt);
  std::exception_ptr thrown;
  try {
    next(*this);
  } catch (...) {
    thrown = std::current_exception();
  }
  std::optional<task<void>> inner = std::exchange(work, std::move(awaited));
  if (thrown) std::rethrow_exception(thrown);
  if (inner) co_await std::move(*inner);
}

/// Nothing is left in its place: what is to take that may find no memory.
task<void> exchange::take_work() noexcept {
  task<void> taken = std::move(*work);
  work.reset();
  return taken;
}

void exchange::run_now(handler& next) {
  try {
    next(*this);
  } catch (...) {
    work.reset();
    report_exception();
  }
  if (!work) expect_reply();
}

task<void> exchange::finish(task<void> late) {
  try {
    co_await std::move(late);
  } catch (...) {
    report_exception();
  }
  if (!reply_lost_body()) expect_reply();
}

std::optional<net::ip_address> exchange::client() const {
  return of_.is_client_known ? of_.known->address : peer().address;
}

bool exchange::is_from_unix_socket() const {
  return !of_.is_client_known && peer().is_unix_socket && !peer().hides_its_client;
}

const connection_peer& exchange::peer() const { return request_.client_.peer(); }

bool exchange::lacks_body() const noexcept { return of_.reader != nullptr; }

void exchange::set_client(const std::optional<net::ip_address>& address, std::string_view scheme) {
  if (!of_.known) of_.known = std::make_unique<known_client>();
  *of_.known = {.address = address, .scheme = scheme};
  of_.is_client_known = true;
  of_.note();
}

call_context& exchange::context() {
  if (!of_.context) of_.context = std::make_unique<call_context>();
  if (!of_.has_context) {
    of_.context->until = deadline::never();
    of_.context->is_traced = false;
  }
  of_.has_context = true;
  of_.note();
  return *of_.context;
}

void exchange::end_within(duration left) {
  call_context& mine = context();
  mine.until = std::min(mine.until, deadline::at(request_.client_.host_.loop.now() + left));
}

telemetry::trace_context& exchange::begin_trace() {
  call_context& mine = context();
  mine.is_traced = true;
  return mine.trace;
}

const telemetry::trace_context* exchange::trace() const noexcept {
  return of_.has_context && of_.context->is_traced ? &of_.context->trace : nullptr;
}

std::uint64_t exchange::body_bytes() const noexcept {
  if (!of_.writer || request_.method() == method::head) return body_bytes_;
  return body_bytes_ + of_.writer->sent_bytes();
}

void exchange::hope_to_keep_alive() noexcept {
  if (!replied()) keep_alive_ = request_.client_.keeps_alive(of_.head);
}

body_reader& exchange::reader() {
  if (!of_.reader) {
    of_.bounds = &request_.client_.host_.bounds_of(of_.match);
    of_.reader.reset(new body_reader{request_.client_, of_});
  }
  request_.body_ = {};
  return *of_.reader;
}

body_writer& exchange::writer() {
  if (!of_.writer) of_.writer.reset(new body_writer{request_.client_, of_});
  return *of_.writer;
}

void exchange::end_body() { writer().end(); }

void exchange::report_exception() {
  bool may_try_again = false;
  try {
    throw;
  } catch (const std::bad_alloc& known) {
    may_try_again = !work;  // nobody who waits has begun
    log_exception(known.what());
  } catch (const std::exception& known) {
    log_exception(known.what());
  } catch (...) {
    log_exception("an exception of unknown type");
  }
  if (replied() || reply_lost_body()) return;
  if (may_try_again)
    reply_problem(status::service_unavailable, no_memory_reason, retry_after_field);
  else
    reply_problem(status::internal_server_error, {});
}

void exchange::log_exception(const char* what) const noexcept {
  log::error_of(
      {"handler of ", to_string(request_.method()), " ", request_.path(), " threw: ", what});
}

void exchange::expect_reply() {
  if (replied()) return;
  log::error_of(
      {"handler of ", to_string(request_.method()), " ", request_.path(), " gave no reply"});
  reply_problem(status::internal_server_error, {});
}

bool exchange::reply_lost_body() {
  if (!of_.reader || !of_.reader->fault()) return false;
  close_after_reply();
  reply_problem(of_.reader->fault()->code, of_.reader->fault()->reason);
  return true;
}

std::optional<body_framing> exchange::begin_body(const response& head,
                                                 std::optional<std::uint64_t> length_bytes) {
  if (replied()) return std::nullopt;
  replied_ = head.code();
  const std::string_view own_fields =
      of_.codes_reply ? code_pieces(head, length_bytes) : head.fields();
  const bool knows_chunks = request_.minor_version() != 0;
  const body_framing framing = length_bytes   ? body_framing::length
                               : knows_chunks ? body_framing::chunked
                                              : body_framing::until_close;
  const bool keep_alive = may_keep_alive() && framing != body_framing::until_close;
  keep_alive_ = false;  // as in send()
  request_.client_.send_head({.code = head.code(),
                              .start = request_.client_.host_.reply_start(),
                              .content_type = head.content_type(),
                              .framing = framing,
                              .content_length = length_bytes.value_or(0),
                              .fields = all_fields(own_fields),
                              .connection = field_for(keep_alive)},
                             request_.method() == method::head || is_bodiless(head.code()));
  keep_alive_ = keep_alive;
  return framing;
}

[[gnu::always_inline]] inline void exchange::send_small(const reply_head& head,
                                                        std::string_view body) {
  net::tcp_stream& stream = static_cast<connection&>(request_.client_).stream_;
  char* const begin = stream.prepare(head.most_bytes() + body.size()).data();
  char* const end = head.write(begin);
  if (!body.empty()) std::memcpy(end, body.data(), body.size());
  stream.commit(static_cast<std::size_t>(end - begin) + body.size());
}

void exchange::send(status code, std::string_view content_type, std::string_view body,
                    std::string_view fields, const body_memory* memory) {
  if (replied()) return;
  if (of_.has_texts) [[unlikely]] {
    if (of_.codes_reply) return send_coded(code, content_type, body, fields, memory);
    fields = all_fields(fields);
  }
  replied_ = code;
  // Should memory run out in the middle of the reply, it must be the last: what follows would be
  // taken for the rest of it.
  const bool drops_body = !of_.reader || !of_.reader->is_too_long_to_drop();
  const bool keep_alive = drops_body && may_keep_alive();
  keep_alive_ = false;
  const reply_head head{.code = code,
                        .start = request_.client_.host_.reply_start(),
                        .content_type = content_type,
                        .content_length = body.size(),
                        .fields = fields,
                        .connection = field_for(keep_alive)};
  if (request_.method() == method::head || is_bodiless(code)) body = {};
  body_bytes_ = body.size();
  request_.client_.host_.counts.body_bytes.add(body.size());
  carrier& client = request_.client_;
  if (client.is_stream() || !fits(head, body, memory)) [[unlikely]]
    client.send_reply(head, body, memory);
  else
    send_small(head, body);
  keep_alive_ = keep_alive;
}

connection_host& exchange::host() noexcept { return request_.client_.host_; }

void exchange::upgrade(std::string_view fields, std::unique_ptr<upgraded> to) {
  if (replied()) return;
  replied_ = status::switching_protocols;
  keep_alive_ = false;  // for HTTP it ends here
  request_.client_.send_head(
      {.code = replied_, .start = host().reply_start(), .fields = all_fields(fields)}, true);
  of_.upgrade = std::move(to);
}

void exchange::reply(status code, std::string_view content_type, std::string_view body,
                     std::string_view fields) {
  send(code, content_type, body, fields, nullptr);
}

void exchange::reply(response&& answer) {
  std::string body = answer.take_body();
  const body_memory memory{.owned = &body};
  send(answer.code(), answer.content_type(), body, answer.fields(), &memory);
}

void exchange::reply_shared(status code, std::string_view content_type, const shared_text& body,
                            std::string_view fields) {
  const body_memory memory{.shared = &body};
  send(code, content_type, body.view(), fields, &memory);
}

void exchange::reply(error why) {
  write_problem({.status = status_of(why), .detail = why.message()}, scratch());
  reply(status_of(why), problem_content_type, scratch());
}

void exchange::reply(const json::error& why) {
  const std::string path{why.path.view()};
  write_problem(
      {.status = status::bad_request, .detail = why.what, .offset = why.offset, .path = path},
      scratch());
  reply(status::bad_request, problem_content_type, scratch());
}

void exchange::reply_problem(status code, std::string_view detail, std::string_view fields) {
  write_problem({.status = code, .detail = detail}, scratch());
  reply(code, problem_content_type, scratch(), fields);
}

}  // namespace weft::http

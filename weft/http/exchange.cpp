#include <weft/http/exchange.hpp>

#include <cstring>
#include <utility>

#include <weft/http/connection_host.hpp>
#include <weft/http/problem.hpp>
#include <weft/http/reply_head.hpp>
#include <weft/json/error.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::http {
namespace {

/// Bodies up to this size are copied behind their head; larger ones are sent from where they are.
constexpr std::size_t copied_body_bytes = 2048;

/// Room for a body that is written just before its reply; kept, so that a warm request allocates
/// nothing.
std::string& scratch() noexcept {
  thread_local std::string text;
  return text;
}

bool fits(const reply_head& head, std::string_view body) noexcept {
  return head.most_bytes() + body.size() <= net::tcp_stream::prepare_most_bytes;
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

connection_field exchange::connection(bool keep_alive) const noexcept {
  if (!keep_alive) return connection_field::close;
  return request_.minor_version() == 0 ? connection_field::keep_alive : connection_field::none;
}

bool exchange::may_keep_alive() const noexcept {
  if (!keep_alive_ || stop_.stop_requested()) return false;
  return !host_.draining.stop_requested() || more_has_come_ || stream_.has_input();
}

[[gnu::always_inline]] inline void exchange::send_small(const reply_head& head,
                                                        std::string_view body) {
  char* const begin = stream_.prepare(head.most_bytes() + body.size()).data();
  char* const end = head.write(begin);
  if (!body.empty()) std::memcpy(end, body.data(), body.size());
  stream_.commit(static_cast<std::size_t>(end - begin) + body.size());
}

void exchange::send(status code, std::string_view content_type, std::string_view body,
                    std::string_view fields, std::string* owned) {
  if (std::exchange(replied_, true)) return;
  // Should memory run out in the middle of the reply, it must be the last: what follows would be
  // taken for the rest of it.
  const bool keep_alive = may_keep_alive();
  keep_alive_ = false;
  const reply_head head{.code = code,
                        .start = host_.reply_start(),
                        .content_type = content_type,
                        .content_length = body.size(),
                        .fields = fields,
                        .connection = connection(keep_alive)};
  if (request_.method() == method::head || is_bodiless(code)) body = {};
  if (body.size() <= copied_body_bytes && fits(head, body)) [[likely]]
    send_small(head, body);
  else
    send_large(head, body, owned);
  keep_alive_ = keep_alive;
}

void exchange::send_large(const reply_head& head, std::string_view body, std::string* owned) {
  if (fits(head, {})) {
    send_small(head, {});
  } else {
    std::string text;
    text.resize_and_overwrite(head.most_bytes(), [&](char* begin, std::size_t) noexcept {
      return static_cast<std::size_t>(head.write(begin) - begin);
    });
    stream_.append(std::move(text));
  }
  if (!body.empty()) stream_.append(owned != nullptr ? std::move(*owned) : std::string{body});
}

void exchange::reply(status code, std::string_view content_type, std::string_view body,
                     std::string_view fields) {
  send(code, content_type, body, fields, nullptr);
}

void exchange::reply(response&& answer) {
  std::string body = answer.take_body();
  send(answer.code(), answer.content_type(), body, answer.fields(), &body);
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

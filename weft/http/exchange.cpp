#include <weft/http/exchange.hpp>

#include <cstring>
#include <utility>

#include <weft/http/problem.hpp>
#include <weft/http/reply_head.hpp>
#include <weft/json/error.hpp>
#include <weft/loop/buffer_pool.hpp>
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

void exchange::send(status code, std::string_view content_type, std::string_view body,
                    std::string_view fields, std::string* owned) {
  if (std::exchange(replied_, true)) return;
  bool keep_alive = keep_alive_ && !stop_.stop_requested();
  if (draining_.stop_requested()) [[unlikely]]
    keep_alive = keep_alive && (more_has_come_ || stream_.has_input());
  // Should memory run out in the middle of the reply, it must be the last: what follows would be
  // taken for the rest of it.
  keep_alive_ = false;
  const reply_head head{.code = code,
                        .date = date_,
                        .content_type = content_type,
                        .content_length = body.size(),
                        .fields = fields,
                        .connection = connection(keep_alive)};
  if (request_.method() == method::head || is_bodiless(code)) body = {};
  const std::string_view copied = body.size() <= copied_body_bytes ? body : std::string_view{};
  const std::size_t most_bytes = head.most_bytes() + copied.size();
  const bool is_small = most_bytes <= net::tcp_stream::prepare_most_bytes;
  std::string large;
  if (!is_small) large.resize(most_bytes);
  char* const begin = is_small ? stream_.prepare(most_bytes).data() : large.data();
  char* const end = head.write(begin);
  if (!copied.empty()) std::memcpy(end, copied.data(), copied.size());
  const std::size_t size_bytes = static_cast<std::size_t>(end - begin) + copied.size();
  if (is_small) {
    stream_.commit(size_bytes);
  } else {
    large.resize(size_bytes);
    stream_.append(std::move(large));
  }
  if (copied.size() != body.size())
    stream_.append(owned != nullptr ? std::move(*owned) : std::string{body});
  keep_alive_ = keep_alive;
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

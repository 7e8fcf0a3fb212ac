#include "reply_reader.hpp"

#include <charconv>
#include <chrono>

#include <weft/coro/scope.hpp>

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view head_end = "\r\n\r\n";
/// Who has heard nothing for so long goes.
constexpr duration silence_most = 90s;

template <class Number>
Number to_number(std::string_view digits, int base = 10) noexcept {
  Number value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return value;
}

std::string_view field(std::string_view head, std::string_view name) noexcept {
  const std::size_t at = head.find(name);
  if (at == head.npos) return {};
  const std::string_view value = head.substr(at + name.size());
  return value.substr(0, value.find("\r\n"));
}

task<result<buffer_ref>> read(net::tcp_stream& stream) { co_return co_await stream.read(); }

task<void> call_off(event_loop& loop, duration after, stop_source& what) {
  if (co_await sleep_for(loop, after)) what.request_stop();
}

}  // namespace

task<result<buffer_ref>> impatient_read(net::tcp_stream& stream, event_loop& loop,
                                        duration patience, bool by_another) {
  const environment& outer = co_await this_task::environment();
  stop_source stop{outer.stop};
  environment own = outer;
  own.stop = stop.token();
  if (!by_another) {
    own.until = deadline::at(loop.now() + patience);
    co_return co_await read(stream).in(own);
  }
  scope others{outer};
  others.spawn(call_off(loop, patience, stop));
  auto bytes = co_await read(stream).in(own);
  others.request_stop();
  co_await others.join();
  co_return bytes;
}

bool was_given_up(const error& why) noexcept {
  return why == errc::cancelled || (why == errc::timed_out && why.os_errno() == 0);
}

task<bool> reply_reader::receive_more() {
  const stop_token stop = (co_await this_task::environment()).stop;
  for (const time_point until = loop_.now() + silence_most; loop_.now() < until;) {
    const bool is_hasty = dice_.chance(1, 4);
    const bool by_another = is_hasty && dice_.chance(1, 2);
    const duration patience = is_hasty ? draw_duration(dice_, 3ms) : silence_most;
    auto bytes = co_await impatient_read(stream_, loop_, patience, by_another);
    if (bytes) {
      received_ += bytes->text();
      co_return true;
    }
    last_error_ = bytes.error();
    if (!was_given_up(bytes.error()) || stop.stop_requested()) co_return false;
  }
  co_return false;
}

task<std::optional<std::size_t>> reply_reader::take_chunks(std::size_t at, std::string& body) {
  for (;;) {
    std::size_t line_end = 0;
    while ((line_end = received_.find("\r\n", at)) == std::string::npos) {
      const bool more = co_await receive_more();
      if (!more) co_return std::nullopt;
    }
    const auto size = to_number<std::size_t>(std::string_view{received_}.substr(at), 16);
    at = line_end + 2;
    while (received_.size() < at + size + 2) {
      const bool more = co_await receive_more();
      if (!more) co_return std::nullopt;
    }
    body.append(received_, at, size);
    at += size + 2;
    if (size == 0) co_return at;
  }
}

task<std::optional<seen_reply>> reply_reader::next(bool to_head) {
  received_.erase(0, std::exchange(taken_, 0));
  std::size_t end = 0;
  while ((end = received_.find(head_end)) == std::string::npos) {
    const bool more = co_await receive_more();
    if (!more) co_return std::nullopt;
  }
  end += head_end.size();
  seen_reply reply;
  const std::string head = received_.substr(0, end);
  reply.status = to_number<int>(std::string_view{head}.substr(sizeof "HTTP/1.1"));
  if (reply.status == 100) {
    taken_ = end;
    co_return co_await next(to_head);
  }
  reply.closes = field(head, "Connection: ") == "close";
  if (!to_head && field(head, "Transfer-Encoding: ") == "chunked") {
    const auto over = co_await take_chunks(end, reply.body);
    if (!over) co_return std::nullopt;
    taken_ = *over;
    co_return reply;
  }
  const std::size_t size = to_head ? 0 : to_number<std::size_t>(field(head, "Content-Length: "));
  while (received_.size() < end + size) {
    const bool more = co_await receive_more();
    if (!more) co_return std::nullopt;
  }
  reply.body = received_.substr(end, size);
  taken_ = end + size;
  co_return reply;
}

}  // namespace weft::simulation

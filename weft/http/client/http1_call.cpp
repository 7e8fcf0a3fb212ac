#include <weft/http/client/http1_call.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/coro/race.hpp>
#include <weft/http/client/call_fields.hpp>

namespace weft::http {
namespace {

/// What is copied of a body at a time, on its way out.
constexpr std::size_t sent_at_once_bytes = 32 * 1024;

std::size_t size_of(std::span<const std::string_view> parts) noexcept {
  std::size_t sum = 0;
  for (const std::string_view each : parts) sum += each.size();
  return sum;
}

void join(std::span<const std::string_view> parts, char* out) noexcept {
  for (const std::string_view each : parts) out = std::ranges::copy(each, out).out;
}

task<result<void>> drained(net::tcp_stream& stream) { co_return co_await stream.drain(); }

task<result<void>> answered(client_connection& connection) {
  co_return co_await connection.arrival();
}

}  // namespace

bool http1_call::leave() noexcept {
  client_connection* const left = std::exchange(connection_, nullptr);
  if (left == nullptr || !is_begun_ || !is_sent_ || !body_.is_complete() ||
      !head_.keep_alive(asked_.how))
    return false;
  const bool is_last = input_.text().size() == used_;
  return is_last && left->stream().queued_bytes() == 0;
}

task<void> http1_call::send() {
  std::string_view rest = asked_.body;
  const bool is_small = rest.size() <= net::tcp_stream::prepare_most_bytes / 2;
  queue_head(co_await this_task::environment(),
             is_small ? std::exchange(rest, {}) : std::string_view{});
  for (;;) {
    const auto pushed = co_await push();
    if (!pushed) co_return;
    if (rest.empty()) break;
    const std::string_view piece = rest.substr(0, sent_at_once_bytes);
    connection_->stream().append(std::string{piece});
    rest.remove_prefix(piece.size());
  }
  is_sent_ = true;
}

task<void> http1_call::begin_upload() {
  queue_head(co_await this_task::environment(), {});
  std::ignore = connection_->stream().pump();
}

task<result<void>> http1_call::write(std::string_view text) {
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, sent_at_once_bytes);
    text.remove_prefix(piece.size());
    connection_->stream().append(is_chunked() ? weft::format("{:x}\r\n{}\r\n", piece.size(), piece)
                                              : std::string{piece});
    const auto pushed = co_await push();
    if (!pushed) co_return pushed;
  }
  co_return result<void>{};
}

void http1_call::end_upload() {
  is_sent_ = !is_answered();
  if (is_chunked()) connection_->stream().append("0\r\n\r\n");
  std::ignore = connection_->stream().pump();
}

void http1_call::queue_head(const environment& caller, std::string_view body) {
  const call_fields of_caller{caller, core_.loop.now(), core_.options.timeout_field};
  const std::uint64_t length = asked_.length.value_or(asked_.body.size());
  std::array<char, 20> room;
  const char* const end = std::to_chars(room.data(), room.data() + room.size(), length).ptr;
  const bool has_length = asked_.has_body || asked_.length;
  const std::string_view agent = core_.options.user_agent;
  const bool is_whole = core_.dialer.asks_proxy(to_);
  const std::string cookies = core_.cookie_line(to_, asked_.fields);
  std::array<std::string_view, 20 + call_fields::most_parts> parts = {
      to_string(asked_.how),
      is_whole ? " http://" : " ",
      is_whole ? to_.authority : std::string_view{},
      to_.target.starts_with('/') ? "" : "/",
      to_.target,
      " HTTP/1.1\r\nHost: ",
      to_.authority,
      agent.empty() ? "" : "\r\nUser-Agent: ",
      agent,
      "\r\n",
      is_whole ? std::string_view{core_.dialer.proxy().authorization} : std::string_view{},
      asked_.fields,
      cookies,
      has_length ? "Content-Length: " : "",
      has_length ? std::string_view{room.data(), end} : std::string_view{},
      has_length ? "\r\n" : "",
      is_chunked() ? "Transfer-Encoding: chunked\r\n" : "",
      asks_for_codings() ? "Accept-Encoding: gzip, br, zstd\r\n" : ""};
  auto* const last =
      std::ranges::copy(of_caller.parts(), parts.end() - call_fields::most_parts - 2).out;
  last[0] = "\r\n";
  last[1] = body;
  net::tcp_stream& stream = connection_->stream();
  const std::size_t size = size_of(parts);
  if (size <= net::tcp_stream::prepare_most_bytes) {
    join(parts, stream.prepare(size).data());
    stream.commit(size);
  } else {
    std::string text(size, '\0');
    join(parts, text.data());
    stream.append(std::move(text));
  }
}

task<result<void>> http1_call::push() {
  if (!connection_->stream().pump()) co_return co_await make_room();
  if (connection_->has_arrived()) co_return fail(errc::closed);
  co_return result<void>{};
}

task<result<void>> http1_call::make_room() {
  const auto ended = co_await race(drained(connection_->stream()), answered(*connection_));
  if (connection_->has_arrived()) co_return fail(errc::closed);
  co_return std::get<0>(ended.values).value_or(fail(errc::cancelled));
}

task<result<void>> http1_call::receive() {
  if (const auto come = co_await connection_->arrival(); !come) co_return come;
  auto bytes = connection_->take();
  if (!bytes) co_return fail(bytes.error());
  received_ += bytes->size();
  input_.append(std::move(*bytes));
  co_return result<void>{};
}

task<client_call::outcome<void>> http1_call::read_head() {
  for (;;) {
    const auto parsed = parse_head();
    if (!parsed) co_return std::unexpected{parsed.error()};
    if (*parsed) break;
    input_.consume(interim_bytes_);
    if (interim_bytes_ != 0) continue;
    const auto come = co_await receive();
    if (!come) co_return std::unexpected{broken_off(come.error(), "head")};
  }
  body_.begin(head_.framing(asked_.how), head_.content_length().value_or(0));
  used_ = head_.size_bytes();
  is_begun_ = true;
  co_return outcome<void>{};
}

task<client_call::outcome<std::string_view>> http1_call::read() {
  for (;;) {
    input_.consume(std::exchange(used_, 0));
    if (body_.is_complete()) co_return std::string_view{};
    const body_piece piece = body_.next(input_.text(), bounds_);
    if (piece.status == body_status::failed)
      co_return std::unexpected{malformed(body_.fault(), body_.is_too_large())};
    used_ = piece.consumed_bytes;
    if (!piece.content.empty()) co_return piece.content;
    if (used_ != 0) continue;
    const auto come = co_await receive();
    if (come || (come.error() == errc::closed && body_.ended())) continue;
    co_return std::unexpected{broken_off(come.error(), "body")};
  }
}

}  // namespace weft::http

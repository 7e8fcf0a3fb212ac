#include <weft/http/client/client_exchange.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/coro/race.hpp>
#include <weft/http/client/call_fields.hpp>

namespace weft::http {
namespace {

/// More responses of 1xx before the last mean that there is no end to them.
constexpr unsigned interim_most = 16;
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

void client_exchange::leave() noexcept {
  if (lease_.connection() != nullptr && is_begun_ && is_sent_ && body_.is_complete() &&
      head_.keep_alive(asked_.how)) {
    const bool is_last = input_.text().size() == used_;
    if (is_last && connection().stream().queued_bytes() == 0) lease_.keep();
  }
  lease_ = {};
}

/// Before a request that could not be sent twice, the kernel is asked whether the server has gone.
bool client_exchange::has_usable_connection() const noexcept {
  if (lease_.connection() == nullptr) return false;
  return asked_.is_repeatable() || connection().stream().state_of_peer() == peer_state::open;
}

task<client_exchange::outcome<void>> client_exchange::lease_connection() {
  auto leased = co_await core_.origin_of(to_).acquire();
  if (!leased)
    co_return std::unexpected{
        request_fault{leased.error(),
                      weft::format("none of the {} connections to its host became free: {}",
                                   core_.options.connections_per_host, leased.error().message())}};
  lease_ = std::move(*leased);
  is_kept_ = has_usable_connection();
  if (!is_kept_) co_return co_await connect();
  core_.counts.reused.add();
  co_return outcome<void>{};
}

task<client_exchange::outcome<void>> client_exchange::begin() {
  auto done = co_await lease_connection();
  if (!done) co_return done;
  done = co_await ask();
  if (done || !may_ask_again(done.error().why)) co_return done;
  core_.counts.retries.add();
  done = co_await connect();
  if (!done) co_return done;
  co_return co_await ask();
}

task<client_exchange::outcome<void>> client_exchange::connect() {
  lease_.detach();
  is_kept_ = false;
  auto stream = co_await core_.dialer.dial(to_);
  if (!stream) co_return std::unexpected{std::move(stream.error())};
  lease_.attach(std::move(*stream));
  core_.counts.made.add();
  co_return outcome<void>{};
}

bool client_exchange::may_ask_again(error why) const noexcept {
  const bool is_gone = why != errc::cancelled && why != errc::timed_out;
  return is_gone && is_kept_ && received_ == 0 && asked_.is_repeatable();
}

task<client_exchange::outcome<void>> client_exchange::ask() {
  co_await send();
  co_return co_await read_response();
}

task<client_exchange::outcome<void>> client_exchange::read_response() {
  auto has_head = co_await read_head();
  if (!has_head) co_return has_head;
  body_.begin(head_.framing(asked_.how), head_.content_length().value_or(0));
  used_ = head_.size_bytes();
  is_begun_ = true;
  co_return begin_decoding();
}

/// Whatever goes wrong here shows when the response is read.
task<void> client_exchange::send() {
  is_sent_ = false;
  std::string_view rest = asked_.body;
  const bool is_small = rest.size() <= net::tcp_stream::prepare_most_bytes / 2;
  queue_head(co_await this_task::environment(),
             is_small ? std::exchange(rest, {}) : std::string_view{});
  for (;;) {
    const auto pushed = co_await push();
    if (!pushed) co_return;
    if (rest.empty()) break;
    const std::string_view piece = rest.substr(0, sent_at_once_bytes);
    connection().stream().append(std::string{piece});
    rest.remove_prefix(piece.size());
  }
  is_sent_ = true;
}

task<client_exchange::outcome<void>> client_exchange::begin_upload() {
  auto leased = co_await lease_connection();
  if (!leased) co_return leased;
  queue_head(co_await this_task::environment(), {});
  std::ignore = connection().stream().pump();
  co_return leased;
}

task<client_exchange::outcome<void>> client_exchange::write(std::string_view text) {
  if (asked_.length && text.size() > *asked_.length - written_)
    co_return std::unexpected{request_fault{
        errc::invalid_argument,
        weft::format("more than the {} bytes that were announced are written", *asked_.length)}};
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, sent_at_once_bytes);
    text.remove_prefix(piece.size());
    written_ += piece.size();
    connection().stream().append(is_chunked() ? weft::format("{:x}\r\n{}\r\n", piece.size(), piece)
                                              : std::string{piece});
    const auto pushed = co_await push();
    if (pushed) continue;
    const error why = pushed.error();
    co_return std::unexpected{request_fault{
        why, why == errc::closed ? "the server has answered before it has heard all"
                                 : "the request's body was not taken: " + why.message()}};
  }
  co_return outcome<void>{};
}

task<client_exchange::outcome<void>> client_exchange::finish_upload() {
  const bool is_heard = connection().has_arrived();
  if (!is_heard && asked_.length && written_ != *asked_.length)
    co_return std::unexpected{request_fault{
        errc::invalid_argument, weft::format("{} of the {} bytes that were announced were written",
                                             written_, *asked_.length)}};
  if (is_chunked()) connection().stream().append("0\r\n\r\n");
  std::ignore = connection().stream().pump();
  is_sent_ = !is_heard;
  co_return co_await read_response();
}

void client_exchange::queue_head(const environment& caller, std::string_view body) {
  const call_fields of_caller{caller, core_.loop.now(), core_.options.timeout_field};
  const std::uint64_t length = asked_.length.value_or(asked_.body.size());
  std::array<char, 20> room;
  const char* const end = std::to_chars(room.data(), room.data() + room.size(), length).ptr;
  const bool has_length = asked_.has_body || asked_.length;
  const std::string_view agent = core_.options.user_agent;
  const bool is_whole = core_.dialer.asks_proxy(to_);
  std::array<std::string_view, 18 + call_fields::most_parts> parts = {
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
      asked_.fields,
      has_length ? "Content-Length: " : "",
      has_length ? std::string_view{room.data(), end} : std::string_view{},
      has_length ? "\r\n" : "",
      is_chunked() ? "Transfer-Encoding: chunked\r\n" : "",
      asks_for_codings() ? "Accept-Encoding: gzip, br, zstd\r\n" : ""};
  auto* const last =
      std::ranges::copy(of_caller.parts(), parts.end() - call_fields::most_parts - 2).out;
  last[0] = "\r\n";
  last[1] = body;
  net::tcp_stream& stream = connection().stream();
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

task<result<void>> client_exchange::push() {
  if (!connection().stream().pump()) co_return co_await make_room();
  if (connection().has_arrived()) co_return fail(errc::closed);
  co_return result<void>{};
}

task<result<void>> client_exchange::make_room() {
  const auto ended = co_await race(drained(connection().stream()), answered(connection()));
  if (connection().has_arrived()) co_return fail(errc::closed);
  co_return std::get<0>(ended.values).value_or(fail(errc::cancelled));
}

task<result<void>> client_exchange::receive() {
  if (const auto come = co_await connection().arrival(); !come) co_return come;
  auto bytes = connection().take();
  if (!bytes) co_return fail(bytes.error());
  received_ += bytes->size();
  input_.append(std::move(*bytes));
  co_return result<void>{};
}

client_exchange::outcome<bool> client_exchange::take_head() {
  while (!input_.empty()) {
    switch (parser_.parse(input_.text(), head_, bounds_)) {
      case parse_status::incomplete: return false;
      case parse_status::failed:
        return std::unexpected{malformed(parser_.fault(), parser_.is_too_large())};
      case parse_status::complete: break;
    }
    if (head_.status() == status::switching_protocols)
      return std::unexpected{request_fault{
          errc::protocol_error, "the server changes to a protocol that was not asked for (101)"}};
    if (!head_.is_interim()) return true;
    if (++interim_ > interim_most)
      return std::unexpected{request_fault{
          errc::limit_exceeded,
          weft::format("more than {} responses of 1xx came before the last", interim_most)}};
    input_.consume(head_.size_bytes());
    parser_.reset();
  }
  return false;
}

task<client_exchange::outcome<void>> client_exchange::read_head() {
  for (;;) {
    const auto taken = take_head();
    if (!taken) co_return std::unexpected{taken.error()};
    if (*taken) co_return outcome<void>{};
    const auto come = co_await receive();
    if (!come) co_return std::unexpected{broken_off(come.error(), "head")};
  }
}

client_exchange::outcome<void> client_exchange::begin_decoding() {
  const bool is_part = head_.status() == status::partial_content;
  if (!asks_for_codings() || body_.is_complete() || is_part) return {};
  constexpr coding_set all{content_coding::gzip, content_coding::deflate, content_coding::br,
                           content_coding::zstd};
  const auto codings = read_body_codings(head_.headers(), all, codings_of_body_most);
  if (!codings)
    return std::unexpected{
        request_fault{errc::unsupported, "the response is coded in a way that nobody asked for"}};
  if (codings->count == 0) return {};
  auto made = body_decoding::make(*codings, {.bytes = bounds_.body_bytes});
  if (!made) return std::unexpected{request_fault{made.error(), "the response cannot be decoded"}};
  decoding_ = std::make_unique<body_decoding>(std::move(*made));
  return {};
}

task<client_exchange::outcome<std::string_view>> client_exchange::read_decoded() {
  for (;;) {
    const std::string_view piece = decoding_->next(coded_);
    if (!piece.empty()) co_return piece;
    if (decoding_->has_failed() || (!coded_.empty() && decoding_->is_finished()))
      co_return std::unexpected{
          decoding_->is_too_large()
              ? request_fault{errc::limit_exceeded,
                              weft::format("the response is more than is taken, decoded (limit: {} "
                                           "bytes of body)",
                                           core_.options.body_bytes)}
              : request_fault{errc::protocol_error,
                              "the response is not what its Content-Encoding says"}};
    const auto more = co_await read_as_sent();
    if (!more) co_return more;
    coded_ = *more;
    if (!coded_.empty()) continue;
    if (decoding_->is_finished()) co_return std::string_view{};
    co_return std::unexpected{
        request_fault{errc::protocol_error, "the response's coded body ends too soon"}};
  }
}

task<client_exchange::outcome<std::string_view>> client_exchange::read_as_sent() {
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

task<client_exchange::outcome<std::string_view>> client_exchange::read_all(std::string& room) {
  auto first = co_await read();
  if (!first || (body_.is_complete() && !decoding_)) co_return first;
  for (std::string_view piece = *first; !piece.empty();) {
    room.append(piece);
    const auto next = co_await read();
    if (!next) co_return next;
    piece = *next;
  }
  co_return std::string_view{room};
}

request_fault client_exchange::broken_off(error why, std::string_view where) const {
  // The end in good order is none within a message.
  const error told = why == errc::closed ? error{errc::reset, why.os_errno()} : why;
  const std::string cause =
      why == errc::closed ? "the server closed the connection" : why.message();
  if (received_ == 0)
    return {.why = told,
            .message = "no response came: " + cause,
            .is_unanswered = told != errc::cancelled && told != errc::timed_out};
  return {told, weft::format("the response broke off within its {}, after {} bytes: {}", where,
                             received_, cause)};
}

request_fault client_exchange::malformed(const protocol_fault& why, bool is_too_large) const {
  if (!is_too_large)
    return {errc::protocol_error,
            weft::format("the response is no HTTP: {} (byte {})", why.reason, why.offset_bytes)};
  return {errc::limit_exceeded,
          weft::format("the response is more than is taken: {} (limits: {} bytes of head, {} of "
                       "body)",
                       why.reason, core_.options.head_bytes, core_.options.body_bytes)};
}

}  // namespace weft::http

#include <weft/http/client/client_exchange.hpp>

#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/client/http1_call.hpp>
#include <weft/http/client/http2_call.hpp>
#include <weft/net/tls_info.hpp>

namespace weft::http {

void client_exchange::leave() noexcept {
  if (call_ != nullptr && call_->leave()) lease_.keep();
  lease_ = {};
}

/// Before a request that could not be sent twice, the kernel is asked whether the server has gone.
bool client_exchange::has_usable_connection() const noexcept {
  if (lease_.session() != nullptr) return true;
  if (lease_.connection() == nullptr) return false;
  return asked_.is_repeatable() ||
         lease_.connection()->stream().state_of_peer() == peer_state::open;
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
  begin_call();
  co_return outcome<void>{};
}

task<client_exchange::outcome<void>> client_exchange::begin() {
  auto done = co_await lease_connection();
  if (!done) co_return done;
  done = co_await ask();
  if (done || !may_ask_again(done.error())) co_return done;
  core_.counts.retries.add();
  done = co_await connect_again();
  if (!done) co_return done;
  co_return co_await ask();
}

task<client_exchange::outcome<void>> client_exchange::connect() {
  lease_.detach();
  is_kept_ = false;
  auto stream = co_await core_.dialer.dial(to_);
  if (!stream) co_return std::unexpected{std::move(stream.error())};
  if (!speaks_http2(*stream)) {
    if (core_.options.http2 == client_http2::always && !core_.dialer.asks_proxy(to_))
      co_return std::unexpected{
          request_fault{errc::unsupported, "the server does not speak HTTP/2"}};
    lease_.attach(std::move(*stream));
  } else {
    lease_.attach_session(std::move(*stream));
  }
  core_.counts.made.add();
  begin_call();
  co_return outcome<void>{};
}

void client_exchange::begin_call() {
  if (lease_.session() != nullptr)
    call_ = std::make_unique<http2_call>(core_, asked_, to_, bounds_, *lease_.session());
  else
    call_ = std::make_unique<http1_call>(core_, asked_, to_, bounds_, *lease_.connection());
}

bool client_exchange::speaks_http2(const net::tcp_stream& stream) const {
  if (const net::tls_info* const secured = stream.tls()) return secured->protocol == "h2";
  return core_.options.http2 == client_http2::always && !core_.dialer.asks_proxy(to_);
}

/// The connection it had is of no use.
task<client_exchange::outcome<void>> client_exchange::connect_again() {
  if (lease_.session() == nullptr) co_return co_await connect();
  call_.reset();
  lease_ = {};
  co_return co_await lease_connection();
}

bool client_exchange::may_ask_again(const request_fault& why) const noexcept {
  if (call_->is_refused()) return true;
  return why.is_unanswered && is_kept_ && asked_.is_repeatable();
}

task<client_exchange::outcome<void>> client_exchange::ask() {
  co_await call_->send();
  co_return co_await read_response();
}

task<client_exchange::outcome<void>> client_exchange::read_response() {
  auto has_head = co_await call_->read_head();
  if (!has_head) co_return has_head;
  if (head().status() == status::proxy_authentication_required && core_.dialer.asks_proxy(to_))
    co_return std::unexpected{
        request_fault{errc::refused,
                      weft::format("the proxy answers 407 {}: {}", head().reason(),
                                   advice_on_credentials(core_.dialer.proxy())),
                      status::proxy_authentication_required}};
  core_.take_cookies(to_, head().headers());
  co_return begin_decoding();
}

task<client_exchange::outcome<void>> client_exchange::begin_upload() {
  auto leased = co_await lease_connection();
  if (leased) co_await call_->begin_upload();
  co_return leased;
}

task<client_exchange::outcome<void>> client_exchange::write(std::string_view text) {
  if (asked_.length && text.size() > *asked_.length - written_)
    co_return std::unexpected{request_fault{
        errc::invalid_argument,
        weft::format("more than the {} bytes that were announced are written", *asked_.length)}};
  if (!cut_short_) {
    written_ += text.size();
    const auto written = co_await call_->write(text);
    if (written) co_return outcome<void>{};
    cut_short_ = written.error();
  }
  const error why = *cut_short_;
  co_return std::unexpected{request_fault{
      why, why == errc::closed ? "the server has answered before it has heard all"
                               : "the request's body was not taken: " + why.message()}};
}

task<client_exchange::outcome<void>> client_exchange::finish_upload() {
  const bool is_as_announced = written_ == asked_.length.value_or(written_);
  if (!call_->is_answered() && !is_as_announced)
    co_return std::unexpected{request_fault{
        errc::invalid_argument, weft::format("{} of the {} bytes that were announced were written",
                                             written_, *asked_.length)}};
  // A server that has answered early must not take a part for the whole.
  if (is_as_announced && !cut_short_) call_->end_upload();
  co_return co_await read_response();
}

client_exchange::outcome<void> client_exchange::begin_decoding() {
  const bool is_part = head().status() == status::partial_content;
  const bool is_bodiless =
      head().framing(asked_.how) == response_framing::none || head().content_length() == 0;
  if (!call_->asks_for_codings() || call_->is_complete() || is_bodiless || is_part) return {};
  constexpr coding_set all{content_coding::gzip, content_coding::deflate, content_coding::br,
                           content_coding::zstd};
  // Servers write a character set there, or "none". What is not a coding that was asked for is
  // passed on as it is, and the field with it.
  const auto codings = read_body_codings(head().headers(), all, codings_of_body_most);
  if (!codings || codings->count == 0) return {};
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
    const auto more = co_await call_->read();
    if (!more) co_return more;
    coded_ = *more;
    has_coded_ |= !coded_.empty();
    if (!coded_.empty()) continue;
    if (decoding_->is_finished() || !has_coded_) co_return std::string_view{};
    co_return std::unexpected{
        request_fault{errc::protocol_error, "the response's coded body ends too soon"}};
  }
}

task<client_exchange::outcome<std::string_view>> client_exchange::read_all(std::string& room) {
  auto first = co_await read();
  if (!first || (call_->is_complete() && !decoding_)) co_return first;
  for (std::string_view piece = *first; !piece.empty();) {
    room.append(piece);
    const auto next = co_await read();
    if (!next) co_return next;
    piece = *next;
  }
  co_return std::string_view{room};
}

}  // namespace weft::http

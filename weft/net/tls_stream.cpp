#include <weft/net/tls_stream.hpp>

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

#include <weft/coro/with_deadline.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/net/ip_address.hpp>
#include <weft/net/tls_library.hpp>
#include <weft/net/tls_state.hpp>

namespace weft::net {

namespace detail {

using tls_setup_pointer = std::shared_ptr<const tls_setup>;

struct tls_access {
  static event_loop& loop_of(tcp_stream& stream) noexcept { return stream.state_->loop(); }
  static tcp_stream secure(tcp_stream plain, tls_setup_pointer setup, memory_reservation memory) {
    auto* const made = new tls_state{*plain.state_, std::move(setup), std::move(memory)};
    plain.state_ = nullptr;
    return tcp_stream{*made};
  }
  static tls_state& state_of(const tcp_stream& stream) noexcept { return stream.state_->secured(); }
};

}  // namespace detail

namespace {

using detail::tls_state;

task<result<void>> shake_hands(tls_state& state, handshake_gate& gate, bool begins) {
  for (;; begins = true) {
    if (begins) {
      if (const auto turn = co_await gate.pass(); !turn) co_return turn;
      if (const auto room = state.take_handshake_memory(); !room) co_return room;
      switch (state.shake_hands()) {
        case tls_state::progress::done: co_return result<void>{};
        case tls_state::progress::failed: co_return fail(errc::protocol_error);
        case tls_state::progress::wants_input: break;
      }
    }
    if (const auto come = co_await state.input(); !come) co_return come;
  }
}

/// Whose certificate is wanted, and, for a name, asks for it.
bool expect_host(ssl_st& session, const std::string& host) noexcept {
  if (ip_address::parse(host))
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(&session), host.c_str()) == 1;
  return SSL_set1_host(&session, host.c_str()) == 1 && detail::ask_for_name(session, host.c_str());
}

task<result<tcp_stream>> accept_with(tcp_stream plain, detail::tls_setup_pointer setup,
                                     handshake_gate& gate) {
  memory_share& all = detail::tls_access::loop_of(plain).memory();
  auto memory = all.connections().admit(tls_state::own_bytes);
  if (!memory) co_return fail(errc::limit_exceeded);
  if (const auto flushed = co_await plain.flush(); !flushed) co_return fail(flushed.error());
  tcp_stream secured =
      detail::tls_access::secure(std::move(plain), std::move(setup), std::move(memory));
  tls_state& state = detail::tls_access::state_of(secured);
  SSL_set_accept_state(&state.session());
  state.note_accepted();
  const auto done = co_await with_timeout(handshake_timeout, shake_hands(state, gate, false));
  if (!done) co_return fail(done.error());
  co_return secured;
}

task<result<tcp_stream>> connect_with(tcp_stream plain, detail::tls_setup_pointer setup,
                                      owned_text host, handshake_gate& gate,
                                      std::string* complaint) {
  const std::string expected{host.view()};
  if (expected.empty()) co_return fail(errc::invalid_argument);
  if (const auto flushed = co_await plain.flush(); !flushed) co_return fail(flushed.error());
  memory_share& all = detail::tls_access::loop_of(plain).memory();
  tcp_stream secured = detail::tls_access::secure(
      std::move(plain), std::move(setup),
      all.hold(memory_kind::requests, tls_state::own_bytes + tls_state::handshake_bytes));
  tls_state& state = detail::tls_access::state_of(secured);
  SSL_set_connect_state(&state.session());
  if (!expect_host(state.session(), expected)) co_return fail(errc::invalid_argument);
  const auto done = co_await with_timeout(handshake_timeout, shake_hands(state, gate, true));
  if (!done && complaint != nullptr) *complaint = state.complaint();
  if (!done) co_return fail(done.error());
  co_return secured;
}

}  // namespace

task<result<tcp_stream>> tls_accept(tcp_stream plain, const tls_context& context,
                                    handshake_gate& gate) {
  return accept_with(std::move(plain), context.setup(), gate);
}

void keep_while(const tcp_stream& stream, const std::uint32_t& requests) noexcept {
  if (stream.tls() != nullptr) detail::tls_access::state_of(stream).stay_while(requests);
}

task<result<tcp_stream>> tls_connect(tcp_stream plain, const tls_context& context, owned_text host,
                                     handshake_gate& gate, std::string* complaint) {
  return connect_with(std::move(plain), context.setup(), std::move(host), gate, complaint);
}

}  // namespace weft::net

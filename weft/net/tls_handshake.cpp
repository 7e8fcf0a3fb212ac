// How the two sides of a secured stream come to terms.
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/net/tls_files.hpp>
#include <weft/net/tls_state.hpp>

namespace weft::net::detail {

tls_state::progress tls_state::shake_hands() noexcept {
  const bool is_tls_1_2 = SSL_version(session_.get()) == TLS1_2_VERSION;
  if (was_accepted_ && !messages_.look(input_.text(), is_tls_1_2)) {
    log::debug("a TLS handshake has failed: its hello is longer than 16 KiB");
    is_broken_ = true;
    return progress::failed;
  }
  ERR_clear_error();
  const int said = SSL_do_handshake(session_.get());
  const int why = said == 1 ? SSL_ERROR_NONE : SSL_get_error(session_.get(), said);
  if (why == SSL_ERROR_WANT_READ) {
    seal_and_send();
    return progress::wants_input;
  }
  try {
    if (why == SSL_ERROR_NONE)
      note_info();
    else
      note_complaint();
  } catch (const std::bad_alloc&) {
    is_shaken_ = false;
  }
  if (is_shaken_)
    note_shaken();
  else
    is_broken_ = true;
  seal_and_send();
  return is_shaken_ ? progress::done : progress::failed;
}

void tls_state::note_complaint() {
  complaint_ = last_tls_complaint();
  const long found = SSL_get_verify_result(session_.get());
  // AWS-LC gives the second where nothing was there to verify.
  if (found != X509_V_OK && found != X509_V_ERR_INVALID_CALL)
    complaint_ += weft::format(": {}", X509_verify_cert_error_string(found));
  log::debug(weft::format("a TLS handshake has failed: {}", complaint_));
}

void tls_state::note_info() {
  SSL* const session = session_.get();
  info_.version =
      SSL_version(session) == TLS1_3_VERSION ? tls_version::tls_1_3 : tls_version::tls_1_2;
  info_.cipher = SSL_get_cipher_name(session);
  if (const char* name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name))
    info_.server_name = name;
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(session, &protocol, &size);
  if (size != 0) info_.protocol.assign(reinterpret_cast<const char*>(protocol), size);
  // What is shown without being checked is not believed.
  const X509* const peer = SSL_get0_peer_certificate(session);
  if (peer != nullptr && SSL_get_verify_result(session) == X509_V_OK)
    info_.peer_subject = text_of(X509_get_subject_name(peer));
  info_.is_resumed = SSL_session_reused(session) == 1;
  watch_certificates();
  is_shaken_ = true;
}

/// Only where certificates were checked: others have nothing that ends.
void tls_state::watch_certificates() {
  if (validity_.until(session_.get()) == tls_validity::never) return;
  certificate_watch_ = std::make_unique<certificate_watch>(*this);
  certificate_watch_->look();
}

/// The clock of the wall may be set meanwhile: hence a look from time to time.
void tls_state::certificate_watch::look() noexcept {
  constexpr std::int64_t longest_seconds = 600;
  const std::int64_t left =
      owner.validity_.until(owner.session_.get()) - owner.setup_->wall_seconds();
  if (left <= 0 && owner.is_shaken_) return owner.end_with_certificates();
  const std::chrono::seconds pause{std::clamp<std::int64_t>(left, 0, longest_seconds)};
  owner.loop_.timers().arm(*this, owner.loop_.now() + pause);
}

void tls_state::end_with_certificates() noexcept {
  has_outlived_certificates_ = true;
  break_off();
  go_on();
}

bool tls_state::input_wait::begin(std::coroutine_handle<> waiting,
                                  const environment& env) noexcept {
  state_.reader_.reset();
  if (state_.receive()) return false;
  return state_.stand_in(state_.readers_, state_.reader_.emplace(), waiting, env);
}

result<void> tls_state::input_wait::await_resume() const noexcept {
  if (state_.reader_ && !state_.reader_->outcome) return state_.reader_->outcome;
  if (state_.input_.empty() && state_.input_ended()) return fail(state_.input_failure());
  return {};
}

}  // namespace weft::net::detail

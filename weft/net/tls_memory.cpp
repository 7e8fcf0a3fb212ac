// What a secured stream counts for, and when it may be dropped.
#include <openssl/ssl.h>

#include <utility>

#include <weft/loop/memory_share.hpp>
#include <weft/net/tls_state.hpp>

namespace weft::net::detail {

void tls_state::note_accepted() noexcept {
  was_accepted_ = true;
  stand_in_line();
}

result<void> tls_state::take_handshake_memory() noexcept {
  if (!was_accepted_) return {};
  // While it stood at the gate.
  if (failure_ == errc::cancelled) return fail(errc::reset);
  if (has_begun_) return {};
  const bool asks = (SSL_get_verify_mode(session_.get()) & SSL_VERIFY_PEER) != 0;
  const std::size_t more = handshake_bytes + (asks ? certificates_bytes : 0);
  has_begun_ = loop_.memory().connections().admit(memory_, more);
  if (!has_begun_) return fail(errc::limit_exceeded);
  return {};
}

void tls_state::note_shaken() noexcept {
  leave_line();
  memory_.shrink(own_bytes);
}

/// A handshake or a record keeps the place that it had when it began: what trickles in is no
/// progress.
void tls_state::stand_in_line() noexcept {
  if (!was_accepted_) return;
  const line wanted = is_shaken_ && !keeps_record_ ? line::silent : line::unfinished;
  if (line_ == wanted) return;
  leave_line();
  line_ = wanted;
  if (wanted == line::silent)
    loop_.memory().connections().note_silent(place_, line_place::kind_of_all, own_bytes);
  else
    loop_.memory().connections().note_unfinished(place_, line_place::kind_of_all);
}

/// Its other end takes what it is sent.
void tls_state::stand_behind() noexcept {
  leave_line();
  stand_in_line();
}

void tls_state::leave_line() noexcept {
  const line left = std::exchange(line_, line::none);
  if (left == line::silent)
    loop_.memory().connections().note_talks(place_, own_bytes);
  else if (left == line::unfinished)
    loop_.memory().connections().note_finished(place_);
}

void tls_state::note_record(bool is_kept) noexcept {
  keeps_record_ = is_kept;
  if (is_kept)
    loop_.memory().connections().grow(memory_, kept_record_bytes);
  else
    memory_.shrink(own_bytes);
}

/// Its memory is needed by others: neither sends nor receives any more.
void tls_state::drop() noexcept {
  line_ = line::none;
  give_up_output();
  cancel_read(errc::reset);
  if (!readers_.empty()) readers_.front()->wake(fail(errc::reset));
}

}  // namespace weft::net::detail

// How a WebSocket ends: in good order, told what is wrong, or cut.
#include <weft/http/websocket/session.hpp>

#include <array>
#include <exception>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/log.hpp>
#include <weft/http/websocket/utf8_checker.hpp>

namespace weft::http::ws {
namespace {

constexpr std::size_t reason_most_bytes = control_most_bytes - sizeof(close_code);

bool may_be_reason(std::string_view text) noexcept {
  return text.size() <= reason_most_bytes && is_utf8(text);
}

}  // namespace

/// Until the other end has said that it is over.
class session::end_wait final : public waiter {
 public:
  explicit end_wait(session& of) noexcept : session_{of} {}
  [[nodiscard]] result<void> await_resume() const noexcept { return outcome(); }

 private:
  friend waiter;
  wait_line& line() noexcept { return session_.waiters_; }
  bool take() noexcept { return session_.phase_ >= phase::lingering; }
  session& session_;
};

websocket_end session::end() const noexcept {
  if (ended_ == nullptr) return {};
  return {ended_->code, ended_->reason};
}

task<result<void>> session::close(close_code code, owned_text reason) {
  if (!may_be_sent(code) || !may_be_reason(reason.view())) co_return fail(errc::invalid_argument);
  start_close(code, reason.view());
  discard();
  const auto waited = co_await end_wait{*this};
  if (!waited) co_return waited;
  if (closed_reason() == errc::closed) co_return result<void>{};
  co_return fail(closed_reason());
}

void session::start_close(close_code code, std::string_view reason) noexcept {
  if (phase_ != phase::open || !begun_) return;
  try {
    append_close(code, reason);
    phase_ = phase::closing;
    fragmenting_.reset();
    set_after(limits_.close_timeout);
  } catch (const std::exception&) {
    abort(errc::exhausted, {close_code::abnormal, "out of memory"});
  }
}

void session::release(close_code code) noexcept {
  if (!begun_) return;
  is_released_ = true;
  lent_memory_.clear();
  lent_is_in_input_ = false;
  start_close(code, {});
  discard();
  end_if_over();
}

/// What has been received, and comes still, nobody will read.
void session::discard() noexcept {
  discards_ = true;
  has_ready_ = false;
  ready_memory_.clear();
  ready_is_in_input_ = false;
  go_on();
}

void session::append_close(close_code code, std::string_view reason) {
  std::array<char, control_most_bytes> payload;
  const unsigned number = std::to_underlying(code);
  payload[0] = static_cast<char>(number >> 8U);
  payload[1] = static_cast<char>(number & 0xffU);
  reason.copy(payload.data() + sizeof code, reason.size());
  const bool says_nothing = code == close_code::no_status;
  append_control(opcode::close, {payload.data(), says_nothing ? 0 : sizeof code + reason.size()});
}

void session::on_close_frame() {
  const close_reason told = reader_.closing();
  note_end(errc::closed, told);
  if (phase_ == phase::open) append_close(told.code, {});
  linger();
}

void session::fail_connection(const frame_fault& why) {
  counts_.failed.add();
  const errc code = why.code == close_code::message_too_big  ? errc::limit_exceeded
                    : why.code == close_code::internal_error ? errc::exhausted
                                                             : errc::protocol_error;
  note_end(code, {why.code, why.reason});
  if (phase_ == phase::open) append_close(why.code, why.reason);
  linger();
}

/// Closing with bytes unread makes the kernel reset the connection, and the other end may never
/// see the last frame: so what it still sends is dropped until it has ended its side. A server ends
/// first (RFC 6455 section 7.1.1).
void session::linger() {
  phase_ = phase::lingering;
  fragmenting_.reset();
  if (self_ == role::server || ended_->why != errc::closed) link_.end_output();
  set_after(limits_.close_timeout);
  waiters_.wake_all();
}

void session::abort(error why, const close_reason& told) noexcept {
  if (phase_ == phase::over) return;
  note_end(why, told);
  phase_ = phase::over;
  set_after(limits_.close_timeout);  // for on_overstay()
  if (is_receiving_) cancel_read();
  fragmenting_.reset();
  if (senders_ != 0) link_.give_up_output();
  waiters_.wake_all();
}

/// The other end has not closed in good order.
void session::lose(std::string_view why) noexcept {
  counts_.lost.add();
  abort(errc::reset, {close_code::abnormal, why});
}

void session::note_end(error why, const close_reason& told) noexcept {
  WEFT_ASSERT(why != errc::cancelled && why != errc::timed_out,
              "who is told so may go on, and would do so for ever");
  if (ended_ != nullptr) return;
  try {
    ended_ = std::make_unique<ended>(why, told.code, std::string{told.text});
  } catch (const std::exception&) {
    log::error("out of memory: why a WebSocket has ended is lost");
  }
}

}  // namespace weft::http::ws

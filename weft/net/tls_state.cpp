#include <weft/net/tls_state.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include <weft/coro/frame_pool.hpp>
#include <weft/net/tls_bio.hpp>

namespace weft::net::detail {
namespace {

/// Of text that is sealed at once: what that comes to leaves in one send.
constexpr std::size_t sealed_at_once_bytes = 48 * 1024;
constexpr std::size_t record_bytes = SSL3_RT_MAX_PLAIN_LENGTH;
/// How often a buffer is looked for where none was free; who waits for input stands in a line of
/// the backend's, which knows nothing of texts that have come already.
constexpr duration room_interval = std::chrono::milliseconds{1};

}  // namespace

tls_state::tls_state(stream_state& plain, std::shared_ptr<const tls_setup> setup,
                     memory_reservation memory)
    : stream_state{plain.loop(), plain.socket()},
      memory_{std::move(memory)},
      setup_{std::move(setup)},
      session_{SSL_new(setup_->contexts.front().get())},
      receive_{&plain.socket(), &on_received},
      sealed_{plain.loop().buffers()} {
  if (session_ == nullptr || !attach_bio(*session_, *this) ||
      !attach_validity(*session_, validity_))
    throw std::bad_alloc{};
  receive_.owner = this;
  is_secured_ = true;
  input_ = std::move(plain.unread);
  plain.closed();
}

tls_state::~tls_state() {
  leave_line();
  loop_.timers().disarm(room_);
}

void* tls_state::operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }

void tls_state::operator delete(void* memory, std::size_t size_bytes) noexcept {
  frame_pool::deallocate(memory, size_bytes);
}

std::size_t tls_state::take_input(std::span<char> into) noexcept {
  const std::size_t size = std::min(input_.size(), into.size());
  if (size == 0) return 0;
  std::memcpy(into.data(), input_.data(), size);
  input_.remove_prefix(size);
  if (input_.empty()) input_.reset();
  return size;
}

void tls_state::add_sealed(std::string_view bytes) {
  constexpr std::size_t least_room = 512;
  while (!bytes.empty()) {
    const std::span<char> room = sealed_.prepare(std::min(bytes.size(), least_room));
    const std::size_t size = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), size);
    sealed_.commit(size);
    bytes.remove_prefix(size);
  }
}

bool tls_state::has_input() const noexcept {
  return !input_.empty() || SSL_has_pending(session_.get()) == 1;
}

error tls_state::input_failure() const noexcept {
  // An end without a goodbye may be somebody's who cuts in (RFC 8446 section 6.1).
  return input_end_ == 0 ? error{errc::reset} : error::from_errno(-input_end_);
}

bool tls_state::receive() noexcept {
  if (receive_.pending) return false;
  if (!loop_.start(receive_)) return false;
  note_input();
  return true;
}

void tls_state::note_input() noexcept {
  if (receive_.result > 0)
    input_ = std::move(receive_.buffer);
  else if (receive_.result != -ECANCELED)
    input_end_ = receive_.result;
}

void tls_state::on_received(operation& op) noexcept {
  tls_state& self = *static_cast<owned_receive&>(op).owner;
  self.note_input();
  self.go_on();
  self.end_if_abandoned();
}

/// Whoever waits is told if there is something for them; what has come else is kept.
void tls_state::go_on() noexcept {
  if (somebody_reads() && (!is_shaken_ || open(*reading_))) wake_reader();
}

void tls_state::wake_reader() noexcept {
  if (std::exchange(is_called_back_, false))
    loop_.schedule(*reading_);
  else
    readers_.front()->wake({});
}

bool tls_state::begin_read(receive_operation& into) noexcept {
  if (read_now(into)) return true;
  is_called_back_ = into.pending = true;
  return false;
}

bool tls_state::read_now(receive_operation& into) noexcept {
  reader_.reset();
  return open(into);
}

void tls_state::cancel_read(error why) noexcept {
  if (!is_called_back_) return;  // the answer is on its way
  read_failure_ = why;
  leave_line();
  wake_reader();
}

bool tls_state::read(receive_operation& into, std::coroutine_handle<> waiting,
                     const environment& env) noexcept {
  reader_.reset();
  if (env.stop.stop_requested() || env.until.passed(loop_.now())) {
    read_failure_ = env.stop.stop_requested() ? errc::cancelled : errc::timed_out;
    return false;
  }
  if (open(into)) return false;
  return stand_in(readers_, reader_.emplace(), waiting, env);
}

error tls_state::read_failure() const noexcept {
  return reader_ && !reader_->outcome ? reader_->outcome.error() : read_failure_;
}

bool tls_state::open(receive_operation& into) noexcept {
  for (;;) {
    switch (open_into(into)) {
      case opened::answer: leave_line(); return true;
      case opened::wants_input:
        if (receive()) break;
        stand_in_line();
        return false;
      case opened::wants_room:
        loop_.timers().disarm(room_);
        loop_.timers().arm(room_, loop_.now() + room_interval);
        return false;
    }
  }
}

tls_state::opened tls_state::open_into(receive_operation& into) noexcept {
  if (has_outlived_certificates_) {
    read_failure_ = errc::protocol_error;
    return opened::answer;
  }
  buffer_ref room = loop_.buffers().acquire();
  if (!room) return opened::wants_room;
  ERR_clear_error();
  const int got = SSL_read(session_.get(), room.data(), static_cast<int>(room.capacity()));
  const int why = got > 0 ? SSL_ERROR_NONE : SSL_get_error(session_.get(), got);
  if (const bool keeps = SSL_has_pending(session_.get()) == 1; keeps != keeps_record_)
    note_record(keeps);
  if (why == SSL_ERROR_NONE) {
    room.resize(static_cast<std::size_t>(got));
    into.buffer = std::move(room);
    into.result = 1;
  } else if (why == SSL_ERROR_ZERO_RETURN) {
    read_failure_ = errc::closed;
  } else if (why != SSL_ERROR_WANT_READ) {
    read_failure_ = errc::protocol_error;
    break_off();
  } else if (input_ended()) {
    read_failure_ = input_failure();
  } else {
    seal_and_send();  // what OpenSSL answers by itself
    return opened::wants_input;
  }
  seal_and_send();
  return opened::answer;
}

void tls_state::seal_and_send() noexcept {
  while (!sending() && has_to_send())
    if (start_send()) finish_send();
}

bool tls_state::has_to_send() noexcept {
  const bool may_seal = is_shaken_ && !is_broken_ && failure_.os_errno() == 0;
  if (sealed_.empty() && may_seal) {
    if (!queue_.empty()) {
      seal();
    } else if (goodbye_is_due_ && !std::exchange(goodbye_is_said_, true)) {
      ERR_clear_error();
      SSL_shutdown(session_.get());  // 0: the other side has not said so yet
    }
  } else if (sealed_.empty() && is_shaken_) {
    queue_.clear();  // of a stream that has failed: nobody will get it
  }
  if (!sealed_.empty()) return true;
  if (queue_.empty() && std::exchange(kernel_is_told_too_, false))
    loop_.io().shutdown_write(socket());
  return false;
}

/// In whole records, as far as there is text for them.
void tls_state::seal() noexcept {
  std::array<iovec, 16> pieces;
  const auto filled = std::span{pieces}.first(queue_.gather(pieces));
  std::array<char, record_bytes> record;
  std::size_t size = 0;
  bool is_good = true;
  const auto has_room = [&] { return is_good && sealed_bytes_ + size < sealed_at_once_bytes; };
  for (const iovec& piece : filled) {
    std::string_view text{static_cast<const char*>(piece.iov_base), piece.iov_len};
    while (!text.empty() && has_room()) {
      const std::string_view part = text.substr(0, record_bytes - size);
      text.remove_prefix(part.size());
      if (size == 0 && (part.size() == record_bytes || &piece == &filled.back())) {
        is_good = seal(part);
        continue;
      }
      std::memcpy(record.data() + size, part.data(), part.size());
      size += part.size();
      if (size == record_bytes) is_good = seal({record.data(), std::exchange(size, 0)});
    }
  }
  if (size != 0 && is_good) is_good = seal({record.data(), size});
  if (!is_good) break_off();
}

bool tls_state::seal(std::string_view text) noexcept {
  ERR_clear_error();
  const int written = SSL_write(session_.get(), text.data(), static_cast<int>(text.size()));
  if (written <= 0) return false;
  sealed_bytes_ += static_cast<std::size_t>(written);
  return true;
}

/// As that of a stream which is not secured; what cannot be sent is lost.
bool tls_state::start_send() noexcept {
  if (!has_outgoing()) {
    sealed_.clear();
    sealed_bytes_ = 0;
    return false;
  }
  outgoing& send = *outgoing_;
  if (const std::string_view all = sealed_.in_one_piece(); !all.empty()) {
    send.message = nullptr;
    send.data = all.data();
    send.size = all.size();
  } else {
    message_.msg_iov = parts_.data();
    message_.msg_iovlen = sealed_.gather(parts_);
    send.message = &message_;
  }
  send.cancelled = false;
  send.pending = !loop_.io().start(send);
  if (send.pending && queue_.may_be_counted()) note_stalled();
  return !send.pending;
}

void tls_state::sent() noexcept {
  finish_send();
  seal_and_send();
}

void tls_state::finish_send() noexcept {
  const std::int32_t result = outgoing_->result;
  if (result < 0 || failure_ == errc::cancelled) {
    fail_sending(error::from_errno(result < 0 ? -result : ECANCELED));
    sealed_.clear();
    sealed_bytes_ = 0;
  } else {
    const auto sent = static_cast<std::size_t>(result);
    sealed_.consume(sent);
    // The last byte counts as sent when all have been that stand for it.
    const std::size_t gone =
        sealed_.empty() || sealed_bytes_ == 0 ? sealed_bytes_ : std::min(sent, sealed_bytes_ - 1);
    sealed_bytes_ -= gone;
    queue_.consume(gone);
  }
  if (line_ == line::silent) stand_behind();
  wake_waiters();
  release_outgoing();
}

void tls_state::break_off() noexcept {
  is_broken_ = true;
  sealed_bytes_ = 0;
  fail_sending(error{errc::protocol_error, EPROTO});
  if (outgoing_ != nullptr) wake_waiters();
}

void tls_state::give_up_sending() noexcept {
  if (sending()) {
    loop_.io().cancel(*outgoing_);
    return;
  }
  queue_.clear();
  sealed_.clear();
  sealed_bytes_ = 0;
}

void tls_state::say_goodbye(bool to_kernel_too) noexcept {
  goodbye_is_due_ = true;
  kernel_is_told_too_ = kernel_is_told_too_ || to_kernel_too;
  seal_and_send();
}

void tls_state::abandoned() noexcept {
  work_ = nullptr;
  if (!readers_.empty()) readers_.front()->wake(fail(errc::cancelled));
  say_goodbye(false);
}

/// Closing with bytes unread makes the kernel reset the connection, and what was sent may be lost
/// with it. A server sends its tickets unasked, and either side its goodbye.
bool tls_state::stops_receiving() noexcept {
  constexpr unsigned drained_most = 16;
  while (drained_ < drained_most && !input_ended() && loop_.io().has_input(socket())) {
    ++drained_;
    if (!receive()) return false;
  }
  if (!receive_.pending) return true;
  if (!receive_.cancelled) loop_.io().cancel(receive_);
  return false;
}

bool read_secured(stream_state& stream, receive_operation& into, std::coroutine_handle<> waiting,
                  const environment& env) noexcept {
  return stream.secured().read(into, waiting, env);
}

error secured_read_failure(const stream_state& stream) noexcept {
  return stream.secured().read_failure();
}

}  // namespace weft::net::detail

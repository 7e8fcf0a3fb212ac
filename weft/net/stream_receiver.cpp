#include <weft/net/stream_receiver.hpp>

#include <utility>

#include <weft/net/tcp_stream.hpp>
#include <weft/net/tls_state.hpp>

namespace weft::net {

bool stream_receiver::begin(tcp_stream& stream) noexcept {
  detail::stream_state& state = *stream.state_;
  read_.target = &state.socket();
  read_.result = 0;
  state.read_begins(read_);
  if (state.unread) [[unlikely]] {
    read_.buffer = std::move(state.unread);
    read_.result = 1;
    return true;
  }
  if (state.is_secured()) [[unlikely]]
    return state.secured().begin_read(read_);
  return state.loop().start(read_);
}

bool stream_receiver::receive_now(tcp_stream& stream) noexcept {
  detail::stream_state& state = *stream.state_;
  if (state.unread) [[unlikely]]
    return begin(stream);
  read_.target = &state.socket();
  read_.result = 0;
  const bool has_come =
      state.is_secured() ? state.secured().read_now(read_) : state.loop().receive_now(read_);
  if (has_come) state.read_begins(read_);
  return has_come;
}

result<buffer_ref> stream_receiver::take(tcp_stream& stream) noexcept {
  detail::stream_state& state = *stream.state_;
  const auto failure = [&]() -> error {
    if (state.is_secured()) return state.secured().read_failure();
    return read_.result == 0 ? state.end_of_input() : error::from_errno(-read_.result);
  };
  auto outcome = read_.result > 0 ? result<buffer_ref>{std::move(read_.buffer)} : fail(failure());
  state.read_ended();
  return outcome;
}

void stream_receiver::give_way(event_loop& loop, function on_turn) noexcept {
  WEFT_DEBUG_ASSERT(!read_.pending, "one read at a time, and no other meanwhile");
  on_turn_ = on_turn;
  read_.on_answer = &on_given_way;
  read_.pending = true;
  loop.schedule(read_, priority::low);
}

void stream_receiver::on_given_way(operation& op) noexcept {
  stream_receiver& self = *static_cast<owned_receive&>(op).owner;
  op.on_answer = &on_answered;
  std::exchange(self.on_turn_, nullptr)(self);
}

void stream_receiver::cancel(tcp_stream& stream) noexcept {
  if (!read_.pending || on_turn_ != nullptr) return;
  detail::stream_state& state = *stream.state_;
  if (state.is_secured())
    state.secured().cancel_read();
  else
    state.loop().io().cancel(read_);
}

}  // namespace weft::net

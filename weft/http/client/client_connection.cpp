#include <weft/http/client/client_connection.hpp>

#include <utility>

#include <weft/coro/frame_pool.hpp>
#include <weft/http/client/origin_pool.hpp>

namespace weft::http {

client_connection::client_connection(origin_pool& home, event_loop& loop, net::tcp_stream stream)
    : stream_receiver{&on_received},
      lazy_timer{loop, timeout_kind},
      home_{&home},
      stream_{std::move(stream)} {}

void* client_connection::operator new(std::size_t size_bytes) {
  return frame_pool::allocate(size_bytes);
}

void client_connection::operator delete(void* memory, std::size_t size_bytes) noexcept {
  frame_pool::deallocate(memory, size_bytes);
}

bool client_connection::listen() noexcept {
  if (arrived_) return true;
  if (listens_) return false;
  listens_ = !stream_receiver::begin(stream_);
  if (!listens_) arrived_ = stream_receiver::take(stream_);
  return !listens_;
}

result<buffer_ref> client_connection::take() noexcept {
  auto taken = std::move(*arrived_);
  arrived_.reset();
  return taken;
}

void client_connection::on_received(net::stream_receiver& self) noexcept {
  auto& connection = static_cast<client_connection&>(self);
  connection.listens_ = false;
  connection.arrived_ = connection.stream_receiver::take(connection.stream_);
  if (connection.is_retired_)
    delete &connection;
  else if (connection.kept.is_linked())
    connection.home_->lose(connection);
  else
    connection.readers_.wake_all();
}

void client_connection::on_timeout(lazy_timer& self) noexcept {
  auto& connection = static_cast<client_connection&>(self);
  if (connection.kept.is_linked()) connection.home_->lose(connection);
}

bool client_connection::rest(time_point until) noexcept {
  set(until);
  return !listen();
}

void client_connection::wake() noexcept { set(time_point::max()); }

void client_connection::retire() noexcept {
  is_retired_ = true;
  home_->count_out();
  if (listens_)
    stream_receiver::cancel(stream_);
  else
    delete this;
}

}  // namespace weft::http

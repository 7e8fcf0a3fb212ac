#include <weft/http/client/origin_pool.hpp>

#include <weft/http/client/client_core.hpp>

namespace weft::http {

void origin_pool::lease::attach(net::tcp_stream stream) {
  connection_ = new client_connection{*origin_, origin_->all_.loop, std::move(stream)};
  origin_->all_.counts.connections.add(1);
}

void origin_pool::count_out() noexcept { all_.counts.connections.add(-1); }

bool origin_pool::take(client_connection*& connection) noexcept {
  connection = kept_.pop_front();
  if (connection != nullptr) {
    connection->wake();
    return true;
  }
  // Who stands in line is served when a permit is given back: then none is left here.
  if (taken_ == most_) return false;
  ++taken_;
  return true;
}

void origin_pool::take_back(client_connection* connection, bool is_fit) noexcept {
  if (connection != nullptr) {
    if (is_fit && keep(*connection)) return;
    connection->retire();
  }
  free_permit();
}

/// False: it is not fit to be kept after all.
bool origin_pool::keep(client_connection& connection) noexcept {
  if (all_.is_stopped) return false;
  if (!connection.rest(saturated_sum(all_.loop.now(), all_.options.idle_timeout))) return false;
  if (line_.empty()) {
    kept_.push_front(connection);
    return true;
  }
  connection.wake();
  acquire_wait& next = first_in_line();
  next.given_ = &connection;
  next.wake();
  return true;
}

void origin_pool::free_permit() noexcept {
  if (!line_.empty()) {
    first_in_line().wake();
    return;
  }
  --taken_;
  end_if_unused();
}

void origin_pool::end_if_unused() noexcept {
  if (taken_ == 0) all_.forget(*this);
}

void origin_pool::lose(client_connection& connection) noexcept {
  connection.kept.unlink();
  connection.retire();
  free_permit();
}

void origin_pool::close_kept() noexcept {
  while (client_connection* const next = kept_.front()) {
    const bool is_last = taken_ == 1;
    lose(*next);
    if (is_last) return;  // and so was this
  }
}

}  // namespace weft::http

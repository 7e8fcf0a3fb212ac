#include <weft/http/client/origin_pool.hpp>

#include <weft/http/client/client_core.hpp>

namespace weft::http {

void origin_pool::lease::attach(net::tcp_stream stream) {
  given_.own = new client_connection{*origin_, origin_->all_.loop, std::move(stream)};
  --origin_->dialling_;
  origin_->all_.counts.connections.add(1);
  // Who has waited for a session may make connections of their own.
  if (std::exchange(origin_->speaks_http2_, false)) origin_->serve_line();
}

void origin_pool::lease::attach_session(net::tcp_stream stream) {
  given_.shared = new http2::client_session{*origin_, origin_->all_, std::move(stream)};
  given_.shared->hold();
  origin_->sessions_.push_back(*given_.shared);
  --origin_->dialling_;
  origin_->speaks_http2_ = true;
  origin_->all_.counts.connections.add(1);
  origin_->serve_line();
}

void origin_pool::lease::detach() noexcept {
  if (given_.own == nullptr) return;
  std::exchange(given_.own, nullptr)->retire();
  ++origin_->dialling_;
}

void origin_pool::count_out() noexcept { all_.counts.connections.add(-1); }

http2::client_session* origin_pool::roomy_session() noexcept {
  for (http2::client_session& each : sessions_)
    if (each.has_room()) return &each;
  return nullptr;
}

bool origin_pool::take(connections& into) noexcept {
  into.shared = roomy_session();
  if (into.shared != nullptr) {
    into.shared->hold();
    return true;
  }
  into.own = kept_.pop_front();
  if (into.own != nullptr) {
    into.own->wake();
    return true;
  }
  if (taken_ == most_ || (speaks_http2_ && dialling_ != 0)) return false;
  ++taken_;
  ++dialling_;
  return true;
}

void origin_pool::serve_line() noexcept {
  while (!line_.empty()) {
    acquire_wait& next = first_in_line();
    if (!take(next.given_)) return;
    next.wake();
  }
}

void origin_pool::take_back(const connections& given, bool is_fit) noexcept {
  if (given.shared != nullptr) return given.shared->release();
  if (given.own != nullptr) {
    if (is_fit && keep(*given.own)) return;
    given.own->retire();
  } else {
    --dialling_;
  }
  free_permit();
}

/// False: it is not fit to be kept after all.
bool origin_pool::keep(client_connection& connection) noexcept {
  if (all_.is_stopped) return false;
  if (!connection.rest(saturated_sum(all_.loop.now(), all_.options.idle_timeout))) return false;
  kept_.push_front(connection);
  serve_line();
  return true;
}

void origin_pool::free_permit() noexcept {
  --taken_;
  serve_line();
  end_if_unused();
}

void origin_pool::end_session(http2::client_session& session) noexcept {
  if (session.in_origin.is_linked()) session.in_origin.unlink();
  count_out();
  free_permit();
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
  for (auto next = sessions_.begin(); next != sessions_.end();) {
    http2::client_session& each = *next++;
    if (!each.is_held()) each.retire();
  }
  while (client_connection* const next = kept_.front()) {
    const bool is_last = taken_ == 1;
    lose(*next);
    if (is_last) return;  // and so was this
  }
}

}  // namespace weft::http

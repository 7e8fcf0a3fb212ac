// What another protocol than HTTP is spoken over, once a request has asked for it: the connection
// that the request came by, or a tunnel through one.
//
// Contract: internal to http. Most are connections, for whom this is a pointer and a comparison.
// Calls are those of net::tcp_stream; only while it is_open(). One shard.
//
//   if (!link.begin_read(&on_received, *this)) return;
//   auto bytes = link.take_read(*this);
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/tunnel.hpp>
#include <weft/net/stream_receiver.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::http {

class upgraded_link {
 public:
  upgraded_link() noexcept = default;
  upgraded_link(net::tcp_stream connection) noexcept : way_{std::move(connection)} {}  // NOLINT
  explicit upgraded_link(std::unique_ptr<tunnel> through) noexcept : way_{std::move(through)} {}

  [[nodiscard]] bool is_open() const noexcept { return way_.index() != 0; }
  void reset() noexcept { way_.emplace<std::monostate>(); }

  /// nullptr: it is a tunnel.
  [[nodiscard]] net::tcp_stream* connection() noexcept {
    return std::get_if<net::tcp_stream>(&way_);
  }
  [[nodiscard]] const net::tcp_stream* connection() const noexcept {
    return std::get_if<net::tcp_stream>(&way_);
  }
  /// Where it is no connection.
  [[nodiscard]] tunnel& through() noexcept { return **std::get_if<std::unique_ptr<tunnel>>(&way_); }
  [[nodiscard]] const tunnel& through() const noexcept {
    return **std::get_if<std::unique_ptr<tunnel>>(&way_);
  }

  [[nodiscard]] std::size_t queued_bytes() const noexcept {
    const net::tcp_stream* const direct = connection();
    return direct != nullptr ? direct->queued_bytes() : through().output().size();
  }
  [[nodiscard]] std::span<char> prepare(std::size_t size_bytes) {
    net::tcp_stream* const direct = connection();
    return direct != nullptr ? direct->prepare(size_bytes) : through().output().prepare(size_bytes);
  }
  void commit(std::size_t size_bytes) {
    if (net::tcp_stream* const direct = connection()) return direct->commit(size_bytes);
    through().output().commit(size_bytes);
    through().send_later();
  }
  void append(std::string&& text) {
    if (net::tcp_stream* const direct = connection()) return direct->append(std::move(text));
    through().output().append(std::move(text));
    through().send_later();
  }
  void append(shared_text text) {
    if (net::tcp_stream* const direct = connection()) return direct->append(std::move(text));
    through().output().append(std::move(text));
    through().send_later();
  }
  void end_output() noexcept {
    if (net::tcp_stream* const direct = connection()) return direct->end_output();
    through().end_output();
  }
  void give_up_output() noexcept {
    if (net::tcp_stream* const direct = connection()) return direct->give_up_output();
    through().give_up_output();
  }

  [[nodiscard]] result<net::endpoint> peer_endpoint() const {
    const net::tcp_stream* const direct = connection();
    return direct != nullptr ? direct->peer_endpoint() : through().peer_endpoint();
  }
  [[nodiscard]] const net::tls_info* tls() const noexcept {
    const net::tcp_stream* const direct = connection();
    return direct != nullptr ? direct->tls() : through().tls();
  }

 private:
  std::variant<std::monostate, net::tcp_stream, std::unique_ptr<tunnel>> way_;
};
static_assert(sizeof(upgraded_link) <= 2 * sizeof(void*));

}  // namespace weft::http

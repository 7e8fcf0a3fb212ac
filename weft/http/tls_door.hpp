// The way in for those who speak TLS.
//
// Contract: internal to http: the server of each shard has one. Closed until open() has read the
// certificates; a server without any never opens it. Who passes has shaken hands. reload() reads
// the files again; if one is wrong, the log says so and all stays as it was. Outlives who passes.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/tls_options.hpp>
#include <weft/net/handshake_gate.hpp>
#include <weft/net/tcp_stream.hpp>
#include <weft/net/tls_context.hpp>

namespace weft::http {

/// What `options` name, read; or what is wrong with it. `http2`: that is offered first.
[[nodiscard]] net::tls_context::outcome read_tls(const tls_options& options, bool http2,
                                                 std::shared_ptr<net::tls_ticket_keys> tickets);

class tls_door {
 public:
  tls_door(event_loop& loop, unsigned per_turn) noexcept : gate_{loop, per_turn} {}

  /// errc::invalid_argument is logged, for the server on `address`. The others as read_tls().
  [[nodiscard]] result<void> open(const tls_options& options, std::string_view address, bool http2,
                                  std::shared_ptr<net::tls_ticket_keys> tickets);
  [[nodiscard]] bool is_open() const noexcept { return context_.has_value(); }
  [[nodiscard]] result<void> reload(std::string_view address);

  /// A secured stream, or why there is none.
  [[nodiscard]] task<result<net::tcp_stream>> pass(net::tcp_stream plain);

 private:
  std::optional<net::tls_context> context_;
  net::handshake_gate gate_;
};

}  // namespace weft::http

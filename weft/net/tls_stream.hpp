// Streams that nobody else can read or change: TLS over a tcp_stream, which is then used as before.
//
// Contract: a connection is given away and comes back secured; where that fails it is closed, after
// the other side has been told why as far as it can be. Afterwards all that tcp_stream promises
// holds of the text that is read and written, and:
//   - the end of the stream is errc::closed if the other side has said so, errc::reset if it has
//     only gone: what has come may not be all;
//   - bytes that are no TLS, or have been changed, are errc::protocol_error, and the end of it;
//   - shutdown(), close() and the drop of a stream say goodbye behind what was written;
//   - close() returns once that has been handed over, and the kernel perhaps a little later.
// Handshakes wait for their turn at a gate, so that they never keep the loop for long. They take
// `handshake_timeout` at most. A stream that was accepted counts against its shard's memory budget
// (loop/connection_memory.hpp): without room tls_accept() gives errc::limit_exceeded at once, and
// whoever is silent for longest while others need the memory is cut, errc::reset.
//
//   auto secured = co_await net::tls_accept(std::move(*stream), context, gate);
//   if (!secured) co_return;                                // secured.error() says why
//   co_await serve(std::move(*secured));                    // secured->tls() says with whom
#pragma once

#include <cstdint>
#include <string>

#include <weft/base/time.hpp>
#include <weft/coro/owned_text.hpp>
#include <weft/coro/task.hpp>
#include <weft/net/handshake_gate.hpp>
#include <weft/net/tcp_stream.hpp>
#include <weft/net/tls_context.hpp>
#include <weft/net/tls_info.hpp>

namespace weft::net {

inline constexpr duration handshake_timeout = std::chrono::seconds{10};

/// As the server. `context` is read at the call. What `plain` has been given to write is sent
/// before, as it stands; what has been read of it into a smaller span counts as not read.
[[nodiscard]] task<result<tcp_stream>> tls_accept(tcp_stream plain, const tls_context& context,
                                                  handshake_gate& gate);
/// Of a stream that tls_accept() gave: it is not dropped as silent, for want of memory, while
/// `requests` is not 0, since the client waits for us. `requests` outlives the stream. Nothing, of
/// other streams.
void keep_while(const tcp_stream& stream, const std::uint32_t& requests) noexcept;

/// As the client, with a server that must prove to be `host`: a name or an IP address. `context` is
/// read at the call. Where they do not come to terms, `complaint`, which outlives the task, says
/// what OpenSSL has against it, and is empty otherwise.
[[nodiscard]] task<result<tcp_stream>> tls_connect(tcp_stream plain, const tls_context& context,
                                                   owned_text host, handshake_gate& gate,
                                                   std::string* complaint = nullptr);

}  // namespace weft::net

// A way through a proxy to somebody else, whom TLS then speaks to (CONNECT, RFC 9110
// section 9.3.6).
//
// Contract: internal to http. `proxy` stands and has been asked nothing; after success all that is
// read and written is the other end's. `as` outlives the task. Obeys that. Whatever fails leaves a
// stream that is of no more use.
//
//   auto opened = co_await open_tunnel(stream, "a.test:443", proxy);
#pragma once

#include <expected>
#include <string>

#include <weft/coro/task.hpp>
#include <weft/http/client/proxy_url.hpp>
#include <weft/http/client/request_fault.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::http {

[[nodiscard]] task<std::expected<void, request_fault>> open_tunnel(net::tcp_stream& proxy,
                                                                   std::string host_and_port,
                                                                   const proxy_url& as);

}  // namespace weft::http

#include <weft/http/client/client_tunnel.hpp>

#include <cstddef>
#include <memory>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/client/response_head.hpp>
#include <weft/http/client/response_parser.hpp>
#include <weft/http/limits.hpp>

namespace weft::http {
namespace {

using opened = std::expected<void, request_fault>;

opened no_tunnel(error why, std::string message) {
  return std::unexpected{request_fault{.why = why, .message = std::move(message)}};
}

/// What the proxy has said so far, and what of it is used up.
struct proxy_answer {
  std::string received;
  std::size_t used = 0;
  response_parser parser;
  response_head head;

  /// False: more must come.
  std::expected<bool, request_fault> take() {
    constexpr limits bounds{};
    for (;;) {
      const auto rest = std::string_view{received}.substr(used);
      const parse_status found = parser.parse(rest, head, bounds);
      if (found == parse_status::incomplete) return false;
      if (found == parse_status::failed)
        return std::unexpected{request_fault{
            errc::protocol_error,
            weft::format("the proxy's answer is no HTTP: {}", parser.fault().reason)}};
      used += head.size_bytes();
      parser.reset();
      if (!head.is_interim()) return true;
    }
  }
};

}  // namespace

task<opened> open_tunnel(net::tcp_stream& proxy, std::string host_and_port) {
  const auto sent = co_await proxy.write(
      weft::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n\r\n", host_and_port, host_and_port));
  if (!sent)
    co_return no_tunnel(sent.error(), "the proxy takes nothing: " + sent.error().message());
  const auto answer = std::make_unique<proxy_answer>();
  for (;;) {
    auto bytes = co_await proxy.read();
    if (!bytes)
      co_return no_tunnel(bytes.error(), "the proxy does not answer: " + bytes.error().message());
    const std::size_t before = answer->received.size();
    answer->received.append(bytes->text());
    const auto taken = answer->take();
    if (!taken) co_return std::unexpected{taken.error()};
    if (!*taken) continue;
    const unsigned number = std::to_underlying(answer->head.status());
    if (number / 100 != 2)
      co_return no_tunnel(errc::refused,
                          weft::format("the proxy opens no way to {}: {} {}", host_and_port, number,
                                       answer->head.reason()));
    bytes->remove_prefix(answer->used - before);
    if (!bytes->empty()) proxy.put_back(std::move(*bytes));
    co_return opened{};
  }
}

}  // namespace weft::http

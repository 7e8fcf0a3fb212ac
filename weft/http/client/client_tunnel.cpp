#include <weft/http/client/client_tunnel.hpp>

#include <memory>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/client/lone_answer.hpp>

namespace weft::http {
namespace {

using opened = std::expected<void, request_fault>;

opened no_tunnel(error why, std::string message) {
  return std::unexpected{request_fault{.why = why, .message = std::move(message)}};
}

}  // namespace

task<opened> open_tunnel(net::tcp_stream& proxy, std::string host_and_port, const proxy_url& as) {
  const auto sent = co_await proxy.write(weft::format(
      "CONNECT {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", host_and_port, host_and_port, as.authorization));
  if (!sent)
    co_return no_tunnel(sent.error(), "the proxy takes nothing: " + sent.error().message());
  const auto answer = std::make_unique<lone_answer>();
  const auto came = co_await read_answer(proxy, *answer);
  if (!came) co_return no_tunnel(came.error().why, "the proxy " + came.error().message);
  const unsigned number = std::to_underlying(answer->head.status());
  if (number / 100 == 2) co_return opened{};
  std::string why = weft::format("the proxy opens no way to {}: {} {}", host_and_port, number,
                                 answer->head.reason());
  if (answer->head.status() == status::proxy_authentication_required)
    why.append(": ").append(advice_on_credentials(as));
  co_return no_tunnel(errc::refused, std::move(why));
}

}  // namespace weft::http

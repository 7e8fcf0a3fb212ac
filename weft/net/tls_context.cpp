#include <weft/net/tls_context.hpp>

#include <openssl/crypto.h>

#include <utility>

#include <weft/net/tls_setup.hpp>
#include <weft/net/tls_ticket_keys.hpp>

namespace weft::net {

std::string_view tls_library() noexcept { return OpenSSL_version(OPENSSL_VERSION); }

tls_context::outcome tls_context::server(tls_server_options options,
                                         std::shared_ptr<tls_ticket_keys> tickets) {
  tls_context made;
  made.of_server_ = std::move(options);
  made.tickets_ = tickets != nullptr ? std::move(tickets) : std::make_shared<tls_ticket_keys>();
  if (auto read = made.reload(); !read) return std::unexpected{std::move(read.error())};
  return made;
}

tls_context::outcome tls_context::client(tls_client_options options) {
  tls_context made;
  made.of_client_ = std::move(options);
  if (auto read = made.reload(); !read) return std::unexpected{std::move(read.error())};
  return made;
}

std::expected<void, std::string> tls_context::reload() {
  auto made = tickets_ != nullptr ? detail::tls_setup::server(of_server_, tickets_)
                                  : detail::tls_setup::client(of_client_);
  if (!made) return std::unexpected{std::move(made.error())};
  setup_ = std::move(*made);
  return {};
}

}  // namespace weft::net

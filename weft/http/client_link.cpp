#include <weft/http/client_link.hpp>

#include <weft/http/connection_host.hpp>

namespace weft::http {

void client_link::join(connection_host& host) {
  number_ = static_cast<std::uint32_t>(host.clients.size());
  host.clients.push_back(this);
  host.note_connections();
}

void client_link::leave(connection_host& host) noexcept {
  client_link* const last = host.clients.back();
  host.clients[number_] = last;
  last->number_ = number_;
  host.clients.pop_back();
  host.note_connections();
  if (host.clients.empty()) host.all_gone.set();
}

}  // namespace weft::http

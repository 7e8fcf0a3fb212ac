#include <weft/http/client_finder.hpp>

#include <weft/http/field_syntax.hpp>

namespace weft::http {
namespace {

/// Of those we serve; empty: none of them, and the connection's own counts.
std::string_view known_scheme(std::string_view proto) noexcept {
  if (equals_ignoring_case(proto, "https") || equals_ignoring_case(proto, "wss")) return "https";
  if (equals_ignoring_case(proto, "http") || equals_ignoring_case(proto, "ws")) return "http";
  return {};
}

}  // namespace

void client_finder::operator()(exchange& e, handler& next) const {
  const auto client = find_client(e.peer(), e.request().headers(), field_, *trusted_);
  if (!client)
    return e.reply_problem(status::bad_request,
                           "what the proxies before this server say of the client is malformed");
  if (client->is_forwarded) e.set_client(client->address, known_scheme(client->proto));
  next(e);
}

}  // namespace weft::http

#include <weft/http/access_log.hpp>

#include <arpa/inet.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include <weft/loop/event_loop.hpp>
#include <weft/net/ip_address.hpp>

namespace weft::http {
namespace {

using address_text = std::array<char, INET6_ADDRSTRLEN>;

/// As ip_address::to_string(), without memory; of who came by a Unix socket, "unix:".
std::string_view write_address(const std::optional<net::ip_address>& client, address_text& room) {
  if (!client) return "unix:";
  const bool is_ipv4 = client->is_ipv4();
  const std::uint8_t* const bytes = client->bytes().data() + (is_ipv4 ? 12 : 0);
  return ::inet_ntop(is_ipv4 ? AF_INET : AF_INET6, bytes, room.data(),
                     static_cast<socklen_t>(room.size()));
}

}  // namespace

void access_log::operator()(exchange& e, handler& next) {
  e.run_then(next, [this, &e, begun = loop_->now()] { write(e, begun); });
}

void access_log::write(exchange& e, time_point begun) {
  const request& asked = e.request();
  address_text room;
  line_.clear();
  append_access_line(
      line_,
      {.client = write_address(e.client(), room),
       .method = to_string(asked.method()),
       .target = asked.target(),
       .major_version = asked.major_version(),
       .minor_version = asked.minor_version(),
       .code = e.replied_with().value_or(status::internal_server_error),
       .body_bytes = e.body_bytes(),
       .length = loop_->now() - begun,
       .unix_seconds = std::chrono::floor<std::chrono::seconds>(loop_->wall_now()).count(),
       .referer = asked.header("referer").value_or(std::string_view{}),
       .user_agent = asked.header("user-agent").value_or(std::string_view{})},
      how_);
  to_(line_);
}

}  // namespace weft::http

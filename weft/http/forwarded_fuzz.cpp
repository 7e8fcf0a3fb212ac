// Forwarded and X-Forwarded-For: whatever a client puts before what its proxy appends, the proxy's
// word decides, or the field is refused.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/http/forwarded.hpp>
#include <weft/http/request_parser.hpp>

namespace {

using namespace weft;

// What comes of a client's field to which a trusted proxy has appended.
void check(std::string_view field, std::string_view appended, http::forwarding which) {
  const std::string request =
      "GET / HTTP/1.1\r\nHost: a\r\n" + std::string{field} + std::string{appended} + "\r\n\r\n";
  const auto head = std::make_unique<http::parsed_head>();
  http::request_parser parser;
  if (parser.parse(request, *head, http::limits{}) != http::parse_status::complete) return;
  static const auto trusted = http::trusted_proxies::parse(std::vector<std::string>{"10.0.0.0/8"});
  static const http::connection_peer proxy{.address = *net::ip_address::parse("10.0.0.1")};
  static const net::ip_address client = *net::ip_address::parse("1.2.3.4");
  const auto found = http::find_client(proxy, head->headers(), which, *trusted);
  if (found && found->address != client) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  (void)net::ip_network::parse(text);
  // What ends the line or the head is no field, and what the proxy appends would stand elsewhere.
  if (text.find_first_of("\r\n") != text.npos) return 0;
  check("Forwarded: " + text, ", for=1.2.3.4", http::forwarding::forwarded);
  check("X-Forwarded-For: " + text, ", 1.2.3.4", http::forwarding::x_forwarded_for);
  check("Forwarded: " + text, "\r\nForwarded: for=1.2.3.4", http::forwarding::forwarded);
  return 0;
}

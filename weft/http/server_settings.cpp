#include <weft/http/server_settings.hpp>

#include <charconv>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/tls_door.hpp>
#include <weft/net/address_book.hpp>

namespace weft::http {

std::expected<unsigned, option_fault> read_unix_mode(const server_options& options) {
  const std::string_view text = options.unix_mode;
  unsigned mode = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  const bool is_one =
      failed == std::errc{} && end == text.data() + text.size() && mode != 0 && mode <= 0777;
  if (text.empty() || is_one) return mode;
  return std::unexpected{option_fault{
      "unix_mode", weft::format("\"{}\": write permissions in octal digits, 0600 to 0777", text)}};
}

std::expected<trusted_proxies, option_fault> read_trusted_proxies(const server_options& options) {
  auto read = trusted_proxies::parse(options.trusted_proxies);
  if (!read)
    return std::unexpected{option_fault{
        "trusted_proxies",
        weft::format("\"{}\": write networks like 10.0.0.0/8 or fd00::/8, addresses, or unix: for "
                     "Unix sockets",
                     read.error())}};
  const bool believes =
      options.proxy_protocol != proxy_protocol::off || options.forwarding != forwarding::none;
  if (!believes || !read->empty()) return std::move(*read);
  return std::unexpected{
      option_fault{options.forwarding != forwarding::none ? "forwarding" : "proxy_protocol",
                   "it believes proxies, but trusted_proxies names none: name their networks"}};
}

std::vector<option_fault> server_options::faults() const {
  if (listen.empty()) return {};
  std::vector<option_fault> all;
  if (auto wrong = net::address_fault(listen)) all.push_back({"listen", std::move(*wrong)});
  if (auto mode = read_unix_mode(*this); !mode) all.push_back(std::move(mode).error());
  if (auto proxies = read_trusted_proxies(*this); !proxies)
    all.push_back(std::move(proxies).error());
  if (tls != tls_options{})
    if (auto context = read_tls(tls, http2, nullptr); !context)
      all.push_back({"tls.certificate", std::move(context).error()});
  return all;
}

}  // namespace weft::http

#include <weft/store/mysql/server_address.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace weft::store::mysql {

namespace {

/// What may be asked of a resolver, which knows best: nothing that belongs to an address or a URL.
bool may_be_name(std::string_view host) noexcept {
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return c > ' ' && c != '\x7f' && !std::string_view{"[]:/?#@"}.contains(c);
  });
}

}  // namespace

std::string host_of(std::string_view address) {
  address = address.substr(0, address.rfind(':'));
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  return std::string{address};
}

std::string certified_host_of(std::string_view address) {
  std::string host = host_of(address);
  host.resize(std::min(host.find('%'), host.size()));
  return host;
}

result<server_address> server_address::parse(std::string_view text) {
  server_address parsed;
  parsed.text_ = text;
  if (const auto address = net::endpoint::parse(text)) {
    parsed.address_ = *address;
    if (address->family() != AF_UNIX) parsed.host_ = certified_host_of(text);
    return parsed;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string_view::npos) return fail(errc::invalid_argument);
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data() + colon + 1, end, parsed.port_);
  if (fault != std::errc{} || stop != end || parsed.port_ == 0) return fail(errc::invalid_argument);
  parsed.host_ = text.substr(0, colon);
  if (!may_be_name(parsed.host_)) return fail(errc::invalid_argument);
  return parsed;
}

task<result<std::vector<net::endpoint>>> server_address::look_up(net::resolver& names) const {
  if (address_) co_return std::vector{*address_};
  co_return co_await names.resolve(host_, port_);
}

}  // namespace weft::store::mysql

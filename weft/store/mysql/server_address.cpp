#include <weft/store/mysql/server_address.hpp>

#include <charconv>
#include <system_error>

namespace weft::store::mysql {

result<server_address> server_address::parse(std::string_view text) {
  server_address parsed;
  if (const auto address = net::endpoint::parse(text)) {
    parsed.address_ = *address;
    return parsed;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string_view::npos) return fail(errc::invalid_argument);
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data() + colon + 1, end, parsed.port_);
  if (fault != std::errc{} || stop != end || parsed.port_ == 0) return fail(errc::invalid_argument);
  parsed.name_ = text.substr(0, colon);
  return parsed;
}

task<result<std::vector<net::endpoint>>> server_address::look_up(net::resolver& names) const {
  if (address_) co_return std::vector{*address_};
  co_return co_await names.resolve(name_, port_);
}

}  // namespace weft::store::mysql

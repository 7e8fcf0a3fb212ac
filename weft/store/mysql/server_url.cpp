#include <weft/store/mysql/server_url.hpp>

#include <utility>

#include <weft/base/format.hpp>
#include <weft/store/mysql/server_address.hpp>

namespace weft::store::mysql {
namespace {

constexpr std::string_view scheme = "mysql://";
constexpr std::string_view default_port = ":3306";

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = list.find(',');
    if (const auto part = list.substr(0, end); !part.empty()) parts.emplace_back(part);
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return parts;
}

/// "[::1]" ends with its bracket, and other names have no colon of their own.
bool has_port(std::string_view host) noexcept {
  return host.find(':', host.rfind(']') == std::string_view::npos ? 0 : host.rfind(']')) !=
         std::string_view::npos;
}

/// USER:PASSWORD@, though a sign within the password may have ended it for who reads the rest.
bool may_hold_password(std::string_view url) noexcept {
  if (url.starts_with(scheme)) url.remove_prefix(scheme.size());
  const auto at = url.rfind('@');
  return at != std::string_view::npos && url.substr(0, at).contains(':');
}

}  // namespace

std::expected<server_url, std::string> read_server_url(std::string_view text) {
  const std::string_view all = text;
  server_url made;
  if (text.starts_with(scheme)) text.remove_prefix(scheme.size());
  if (!text.starts_with("unix:")) {
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
      made.databases = split(text.substr(slash + 1));
      text = text.substr(0, slash);
    }
    if (const auto at = text.rfind('@'); at != std::string_view::npos) {
      const std::string_view user = text.substr(0, at);
      if (user.contains(':'))
        return std::unexpected{std::string{
            "a password is not written here, where others see it: put it into a file, and say so "
            "by store.mysql.engine.password_file"}};
      made.user = user;
      text.remove_prefix(at + 1);
    }
  }
  made.address = text;
  if (!text.starts_with("unix:") && !has_port(text)) made.address += default_port;
  // To listen on, ":3306" would be all addresses.
  if (text.empty() || text.starts_with(':') || !server_address::parse(made.address))
    return std::unexpected{
        weft::format("\"{}\" is no server: say one such as mysql://shop@db.example:3306/shop or "
                     "unix:/run/mysqld/mysqld.sock",
                     may_hold_password(all) ? "..." : all)};
  return made;
}

}  // namespace weft::store::mysql

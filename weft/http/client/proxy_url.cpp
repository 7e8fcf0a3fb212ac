#include <weft/http/client/proxy_url.hpp>

#include <openssl/evp.h>

#include <algorithm>

#include <weft/base/format.hpp>
#include <weft/base/without_user.hpp>
#include <weft/http/client/url.hpp>
#include <weft/http/target.hpp>

namespace weft::http {
namespace {

std::string in_base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // with the NUL that it writes
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

bool has_control_character(std::string_view text) noexcept {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

/// Of "user:password" or "user"; the error is a clause.
std::expected<std::string, std::string_view> authorization_of(std::string_view user_info) {
  if (user_info.empty()) return std::string{};
  const std::size_t colon = std::min(user_info.find(':'), user_info.size());
  const auto user = percent_decode(user_info.substr(0, colon));
  const auto password = percent_decode(user_info.substr(std::min(colon + 1, user_info.size())));
  if (!user || !password)
    return std::unexpected{"its user or password has a \"%\" that is to be written \"%25\""};
  if (has_control_character(*user) || has_control_character(*password))
    return std::unexpected{"its user or password has a control character"};
  if (user->contains(':')) return std::unexpected{"its user has a colon, which Basic cannot send"};
  if (*user == "***")
    return std::unexpected{"its user is \"***\", which stands for credentials that are not shown"};
  return weft::format("Proxy-Authorization: Basic {}\r\n",
                      in_base64(weft::format("{}:{}", *user, *password)));
}

}  // namespace

std::expected<proxy_url, std::string> read_proxy(std::string_view url) {
  const auto refused = [&](std::string_view why) {
    return std::unexpected{weft::format(
        "\"{}\" is no proxy: write http://host:port or http://user:password@host:port, "
        "the user and the password percent-encoded ({})",
        without_user(url), why)};
  };
  const std::size_t scheme_end = url.find("://");
  const std::size_t begin = scheme_end == std::string_view::npos ? 0 : scheme_end + 3;
  const std::string_view authority =
      url.substr(begin, std::min(url.find_first_of("/?#", begin), url.size()) - begin);
  const std::size_t at = authority.rfind('@');
  const std::string_view user_info =
      at == std::string_view::npos ? std::string_view{} : authority.substr(0, at);
  const std::string rest =
      weft::format("{}{}", url.substr(0, begin),
                   url.substr(at == std::string_view::npos ? begin : begin + at + 1));
  std::string room;
  const auto parts = read_url(rest, room);
  if (!parts) return refused(parts.error());
  if (parts->scheme != scheme::http || url.contains('#') ||
      (!parts->target.empty() && parts->target != "/"))
    return refused("only http, and no path, can be");
  auto authorization = authorization_of(user_info);
  if (!authorization) return refused(authorization.error());
  return proxy_url{address_text(*parts), std::move(*authorization)};
}

std::string_view advice_on_credentials(const proxy_url& used) noexcept {
  return used.authorization.empty() ? "it requires credentials: write http.client.proxy as "
                                      "http://user:password@host:port"
                                    : "it rejects the user and the password of http.client.proxy";
}

}  // namespace weft::http

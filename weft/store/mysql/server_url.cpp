#include <weft/store/mysql/server_url.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/store/mysql/server_address.hpp>

namespace weft::store::mysql {
namespace {

constexpr std::string_view scheme = "mysql://";
constexpr std::string_view default_port = ":3306";
constexpr std::string_view password_refusal =
    "a password is not written here, where others see it: put it into a file, and say so by "
    "store.mysql.engine.password_file";

/// RFC 3986 section 2.1. What is no such triple stands for itself.
std::string decode(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned char byte = 0;
    const char* const digits = text.data() + at + 1;
    const bool is_triple = text[at] == '%' && text.size() - at > 2 &&
                           std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    decoded += is_triple ? static_cast<char>(byte) : text[at];
    if (is_triple) at += 2;
  }
  return decoded;
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = list.find(',');
    if (const auto part = list.substr(0, end); !part.empty()) parts.push_back(decode(part));
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return parts;
}

/// "[::1]" ends with its bracket, and other names have no colon of their own.
bool has_port(std::string_view host) noexcept {
  return host.find(':', host.rfind(']') == std::string_view::npos ? 0 : host.rfind(']')) !=
         std::string_view::npos;
}

std::string with_port(std::string_view host) {
  const bool is_whole = host.starts_with("unix:") || has_port(host);
  return std::string{host} + std::string{is_whole ? "" : default_port};
}

/// At least one, which may be empty.
std::vector<std::string_view> split_hosts(std::string_view list) {
  if (list.starts_with("unix:")) return {list};  // a path may have commas
  std::vector<std::string_view> hosts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = list.find(',');
    hosts.push_back(list.substr(0, end));
    if (end != std::string_view::npos) list.remove_prefix(end + 1);
  }
  return hosts;
}

/// Of several, what is wrong with one.
std::string which_of(std::string_view wrong, std::size_t hosts) {
  if (hosts == 1) return "";
  return wrong.empty() ? " (there is a comma too many)" : weft::format(" (\"{}\")", wrong);
}

std::optional<tls_mode> mode_of(std::string_view text) noexcept {
  if (text == "off") return tls_mode::off;
  if (text == "required") return tls_mode::required;
  if (text == "verify-ca" || text == "verify_ca") return tls_mode::verify_ca;
  if (text == "verify") return tls_mode::verify;
  return std::nullopt;
}

/// What is wrong with it; empty: it has been taken.
std::string take_option(std::string_view option, server_url& to) {
  const auto equals = option.find('=');
  const std::string_view name = option.substr(0, equals);
  const std::string_view text =
      equals == std::string_view::npos ? std::string_view{} : option.substr(equals + 1);
  if (name == "tls") {
    if (to.tls) return "tls is said twice";
    to.tls = mode_of(text);
    return to.tls ? ""
                  : weft::format("tls is off, required, verify-ca or verify, and not \"{}\"", text);
  }
  std::string* const file = name == "tls_ca"     ? &to.tls_ca
                            : name == "tls_crl"  ? &to.tls_crl
                            : name == "tls_cert" ? &to.tls_certificate
                            : name == "tls_key"  ? &to.tls_key
                                                 : nullptr;
  if (file == nullptr)
    return weft::format(
        "a server has no option \"{}\": there are tls, tls_ca, tls_crl, tls_cert, tls_key", name);
  if (!file->empty()) return weft::format("{} is said twice", name);
  *file = text;
  return text.empty() ? weft::format("{} is to name a file", name) : "";
}

std::string take_options(std::string_view list, server_url& to) {
  while (!list.empty()) {
    const auto end = list.find('&');
    if (std::string fault = take_option(list.substr(0, end), to); !fault.empty()) return fault;
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return "";
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
    if (const auto question = text.find('?'); question != std::string_view::npos) {
      if (std::string fault = take_options(text.substr(question + 1), made); !fault.empty())
        return std::unexpected{may_hold_password(all) ? std::string{password_refusal} : fault};
      text = text.substr(0, question);
    }
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
      const std::string_view names = text.substr(slash + 1);
      if (names.find_first_of("/#") != std::string_view::npos)
        return std::unexpected{
            may_hold_password(all)
                ? std::string{password_refusal}
                : weft::format("\"{}\" is no list of databases, which have commas between them: "
                               "a / or # of a name is written as %2F or %23",
                               names)};
      made.databases = split(names);
      text = text.substr(0, slash);
    }
    if (const auto at = text.rfind('@'); at != std::string_view::npos) {
      const std::string_view user = text.substr(0, at);
      if (user.contains(':')) return std::unexpected{std::string{password_refusal}};
      made.user = decode(user);
      text.remove_prefix(at + 1);
    }
  }
  const auto is_none = [](std::string_view host) {
    // To listen on, ":3306" would be all addresses.
    return host.empty() || host.starts_with(':') || !server_address::parse(with_port(host));
  };
  const auto hosts = split_hosts(text);
  if (const auto wrong = std::ranges::find_if(hosts, is_none); wrong != hosts.end())
    return std::unexpected{
        weft::format("\"{}\" is no server{}: say one such as mysql://shop@db.example:3306/shop or "
                     "unix:/run/mysqld/mysqld.sock",
                     may_hold_password(all) ? "..." : all, which_of(*wrong, hosts.size()))};
  for (const std::string_view host : hosts) {
    std::string address = with_port(host);
    if (std::ranges::contains(made.addresses, address))
      return std::unexpected{weft::format("the server {} is named twice", address)};
    made.addresses.push_back(std::move(address));
  }
  return made;
}

tls_options server_url::tls_or(tls_options otherwise) const {
  if (tls) otherwise.mode = *tls;
  if (!tls_ca.empty()) otherwise.ca = tls_ca;
  if (!tls_crl.empty()) otherwise.crl = tls_crl;
  if (!tls_certificate.empty()) otherwise.certificate = tls_certificate;
  if (!tls_key.empty()) otherwise.key = tls_key;
  return otherwise;
}

}  // namespace weft::store::mysql

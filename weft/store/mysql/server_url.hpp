// All of a server in one text, as an operator writes it:
// mysql://shop@db.example:3306/shop,archive
// or of a cluster whose servers have the same rows: mysql://shop@one.example,two.example/shop
// and with TLS: mysql://shop@db.example/shop?tls=verify&tls_ca=/etc/shop/ca.pem
//
// Contract: user and databases may be missing, and so may each port (3306) and "mysql://". A Unix
// socket is "unix:/run/mysqld/mysqld.sock", and comes alone. A password is refused: who lists
// processes sees it. What comes after a question mark is tls (off, required, verify-ca, verify),
// tls_ca, tls_crl, tls_cert and tls_key, in any order, with & between them.
//
//   const auto given = read_server_url("mysql://shop@db.example/shop");
//   if (!given) complain(given.error());
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/mysql/tls_options.hpp>

namespace weft::store::mysql {

struct server_url {
  std::vector<std::string> addresses;  // one at least, each for server_address::parse()
  std::string user{};
  std::vector<std::string> databases{};
  std::optional<tls_mode> tls{};
  std::string tls_ca{};
  std::string tls_crl{};
  std::string tls_certificate{};
  std::string tls_key{};

  /// What of TLS it says, and else what `otherwise` says.
  [[nodiscard]] tls_options tls_or(tls_options otherwise) const;
};

/// Else why it is none, for people.
[[nodiscard]] std::expected<server_url, std::string> read_server_url(std::string_view text);

}  // namespace weft::store::mysql

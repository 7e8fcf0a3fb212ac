// All of a server in one text, as an operator writes it:
// mysql://shop@db.example:3306/shop,archive
//
// Contract: user and databases may be missing, and so may the port (3306) and "mysql://". A Unix
// socket is "unix:/run/mysqld/mysqld.sock". A password is refused: who lists processes sees it.
//
//   const auto given = read_server_url("mysql://shop@db.example/shop");
//   if (!given) complain(given.error());
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace weft::store::mysql {

struct server_url {
  std::string address;  // for server_address::parse()
  std::string user{};
  std::vector<std::string> databases{};
};

/// Else why it is none, for people.
[[nodiscard]] std::expected<server_url, std::string> read_server_url(std::string_view text);

}  // namespace weft::store::mysql

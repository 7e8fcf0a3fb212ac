// Listening addresses a program's shards share: the first to ask claims the address for the program, the others join.
//
// Contract: thread safe; one a program, outliving its listeners. What was asked for as port 0 is one port for all who ask
// with the same text. A claim is kept until the book ends.
//
//   auto address = book.claim("127.0.0.1:8080");       // on each shard
//   auto listener = net::tcp_listener::bind(loop, *address, {.shared = true});
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <weft/net/address_claim.hpp>
#include <weft/net/endpoint.hpp>

namespace weft::net {

class address_book {
 public:
  /// errc::invalid_argument for a text that is no endpoint, errc::address_in_use when another program has it.
  [[nodiscard]] result<endpoint> claim(std::string_view text);

 private:
  struct entry {
    std::string text;
    address_claim claim;
  };
  std::mutex mutex_;
  std::vector<entry> entries_;
};

}  // namespace weft::net

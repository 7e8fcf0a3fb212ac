// Listening addresses a program's shards share: the first to ask claims the address for the
// program, the others join.
//
// Contract: safe on any thread; one a program, outliving its listeners. What was asked for as port
// 0 is one port for all who ask with the same text. A claim is kept until the book ends.
//
//   auto listener = book.listen(loop, "127.0.0.1:8080");       // on each shard
//   if (!listener) return fail(listener.error());             // the log says which address and why
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/net/address_claim.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/net/udp_socket.hpp>

namespace weft::net {

class connection_spread;
class tls_ticket_keys;

struct listen_terms {
  int backlog = listen_options{}.backlog;
  /// As of listen_options; not of a socket that a service manager passes on.
  bool deferred = false;
  /// Of the file of a Unix socket, as address_claim::take() takes it.
  unsigned unix_mode = 0;
};

/// What is wrong with a text that is to be listened on, before anybody does; nothing: it is an
/// address, or asks for a socket of the service manager's.
[[nodiscard]] std::optional<std::string> address_fault(std::string_view text);

class address_book {
 public:
  /// errc::invalid_argument for a text that is no endpoint, errc::not_found for a zone that is none
  /// of this machine, errc::address_in_use when another program has it.
  [[nodiscard]] result<endpoint> claim(std::string_view text);

  /// Claims, and listens together with the other shards. Logs the address, once, and what is wrong
  /// if something is.
  /// "systemd:" and "systemd:NAME" are sockets that a service manager passes on (activation.hpp).
  [[nodiscard]] result<tcp_listener> listen(event_loop& loop, std::string_view text,
                                            const listen_terms& terms = {});
  /// As listen(), for datagrams: the kernel spreads peers over the shards' sockets, each always to
  /// the same one. The address is claimed by the first socket, and the program's as long as one is
  /// open.
  [[nodiscard]] result<udp_socket> bind_datagrams(event_loop& loop, std::string_view text);
  /// What spreads the connections that come to this address over so many shards: one for all who
  /// ask with the same text.
  [[nodiscard]] std::shared_ptr<connection_spread> spread(std::string_view text, unsigned shards);
  /// What seals the session tickets of TLS, on all shards: one for all who ask with the same text,
  /// so that a client may come back to another shard.
  [[nodiscard]] std::shared_ptr<tls_ticket_keys> ticket_keys(std::string_view text);

 private:
  struct entry {
    std::string text;
    address_claim claim;
  };
  /// What a listener needs to know of a claim.
  struct share {
    endpoint address;
    listen_options options;
  };
  [[nodiscard]] result<share> join(std::string_view text, const listen_terms& terms);
  struct datagram_entry {
    std::string text;
    endpoint address;
  };
  [[nodiscard]] result<udp_socket> join_datagrams(event_loop& loop, std::string_view text);
  struct spread_entry {
    std::string text;
    std::shared_ptr<connection_spread> spread;
  };
  struct ticket_entry {
    std::string text;
    std::shared_ptr<tls_ticket_keys> keys;
  };

  std::mutex mutex_;
  std::vector<entry> entries_;
  std::vector<datagram_entry> datagram_entries_;
  std::vector<spread_entry> spread_entries_;
  std::vector<ticket_entry> ticket_entries_;
};

}  // namespace weft::net

// TLS on a connection of a load, by OpenSSL, which sees no socket: the load reads and writes as
// much at a time as without TLS.
//
//   auto context = make_tls_context({.host = "example.com"});
//   tls_link link{*context};
//   link.take(bytes_from_the_socket);
//   if (link.shake_hands() == tls_link::progress::done) link.encrypt("GET / HTTP/1.1\r\n\r\n");
//   send(link.output()), link.drop_output(bytes_sent);
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace weft::bench {

struct tls_wish {
  std::string host;       // a name or an address, which the certificate is to be for
  std::string ca_file;    // whom to trust; empty: those whom the system trusts
  bool insecure = false;  // any certificate will do
  bool http2 = false;     // and nothing else is to be spoken
};

// Shared by all links, and their threads.
class tls_context {
 public:
  // The error is a sentence for the user.
  static std::expected<tls_context, std::string> make(const tls_wish& wish);

 private:
  friend class tls_link;
  tls_context(ssl_ctx_st* context, tls_wish wish);

  std::shared_ptr<ssl_ctx_st> context_;
  tls_wish wish_;
};

class tls_link {
 public:
  enum class progress : std::uint8_t { done, pending, failed };

  explicit tls_link(const tls_context& context);
  tls_link(const tls_link&) = delete;
  tls_link& operator=(const tls_link&) = delete;
  ~tls_link();

  // What came from the socket.
  void take(std::string_view encrypted);
  // What is to go to the socket, and how much of it has.
  [[nodiscard]] std::string_view output() const;
  void drop_output(std::size_t bytes);

  progress shake_hands();
  // Once hands are shaken.
  void encrypt(std::string_view text);
  // Into `room`: how many bytes; 0: more must be taken first. Nothing: the peer has ended, or has
  // broken the protocol.
  [[nodiscard]] std::optional<std::size_t> decrypt(std::span<char> room);
  // Whether the peer has agreed to what is to be spoken, as far as it says so (ALPN, RFC 7301).
  [[nodiscard]] bool speaks_as_asked() const;
  // Why hands were not shaken; a sentence.
  [[nodiscard]] std::string failure() const;

 private:
  ssl_st* ssl_;
  bool wants_http2_;
  std::size_t dropped_ = 0;  // of the output
};

}  // namespace weft::bench

// What an HTTP client may be told.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/bounds.hpp>
#include <weft/base/time.hpp>
#include <weft/net/tls_context.hpp>
#include <weft/service/option_fault.hpp>

namespace weft::http {

struct client_tls_options {
  /// PEM: who signs the certificates of servers. Empty: whom the system trusts.
  std::string ca{};
  /// PEM: the certificates that they have revoked, a list (CRL) of each authority that a server's
  /// chain leads through; wants `ca`. Empty: nothing is revoked.
  std::string crl{};
  /// PEM: the certificate for servers that ask for one, then those that lead to its root. Empty:
  /// none.
  std::string certificate{};
  /// PEM: its private key, without a passphrase. Empty: in the same file.
  std::string key{};
  /// tls_1_2 or tls_1_3.
  net::tls_version minimum = net::tls_version::tls_1_2;
  /// Believes any server to be who it says, so that whoever stands between can read and change
  /// all. For tests.
  bool insecure = false;
};

enum class client_http2 : std::uint8_t {
  off,
  negotiated,  // over TLS, where the server wants it (ALPN)
  always,      // and in the clear without asking; a server that speaks HTTP/1.1 alone is an error
};

struct client_options {
  /// To each scheme, host and port, on each shard; who wants more waits, first come, first served.
  unsigned connections_per_host = 64;
  /// How long a connection is kept for the next request.
  duration idle_timeout = std::chrono::seconds{30};
  /// For the look-up of the host's name, the connection and the TLS handshake.
  duration connect_timeout = std::chrono::seconds{10};
  /// For a request with all that it waits for, to the end of its response. The deadline of the task
  /// that asks counts where it is earlier.
  duration timeout = std::chrono::seconds{30};
  /// How many redirects are followed, one behind the other, for whole and typed answers. 0: none; a
  /// redirect is an answer like any other. Who fetches URLs that strangers name had better leave it
  /// so: a redirect leads past whatever was checked of them.
  unsigned redirects = 0;
  /// Of a response, status line and header fields.
  std::size_t head_bytes = 64 * 1024;
  /// Of a response, after all decoding.
  std::uint64_t body_bytes = 16 * 1024 * 1024;
  /// How often a GET, HEAD, PUT, DELETE, OPTIONS or TRACE is sent again that found no connection or
  /// got not a byte of an answer, after a pause of some 50 ms, 100 ms, 200 ms and so on.
  unsigned retries = 0;
  /// Of all requests, such retries at most, and ten: a server in trouble has enough to bear.
  unsigned retry_percent = 10;
  /// Whether requests share connections as streams of HTTP/2.
  client_http2 http2 = client_http2::negotiated;
  /// Asks servers to compress (Accept-Encoding), and gives what they send decoded.
  bool decompress = true;
  /// Sent as User-Agent; empty: none is.
  std::string user_agent = "weft";
  /// Tells servers how many milliseconds the answer is waited for (request_deadlines.hpp); empty:
  /// they are not told.
  std::string timeout_field = "Request-Timeout-Ms";
  /// Through whom requests go: "http://host:port" or "http://user:password@host:port", the user and
  /// the password percent-encoded, without a path. https by a tunnel, of which it sees the host and
  /// port alone. Empty: straight to the server.
  std::string proxy{};
  /// Hosts, with no port, that are asked without it; "*" alone is all of them, ".example.com" all
  /// below that.
  std::vector<std::string> no_proxy = {"localhost", "127.0.0.1", "::1"};
  client_tls_options tls{};

  static constexpr auto bounds() {
    constexpr duration shortest = std::chrono::milliseconds{1};
    return weft::bounds(at_least<&client_options::connections_per_host>(1),
                        at_least<&client_options::connect_timeout>(shortest),
                        at_least<&client_options::timeout>(shortest),
                        within<&client_options::retries>(0, 10),
                        within<&client_options::retry_percent>(0, 100),
                        within<&client_options::head_bytes>(16, UINT32_MAX - 1));
  }
  /// Reads the certificates, too.
  [[nodiscard]] std::vector<option_fault> faults() const;
};

/// With the hosts of no_proxy in ASCII. Invalid ones are unchanged.
[[nodiscard]] client_options with_ascii_hosts(client_options given);

/// With what connections speak TLS. `is_for_requests`: by any protocol, and not only HTTP/1.1.
[[nodiscard]] net::tls_client_options tls_of(const client_options& options, bool is_for_requests);

}  // namespace weft::http

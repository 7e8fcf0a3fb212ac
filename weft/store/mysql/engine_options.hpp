// What a program chooses for the server that has its rows.
//
//   app.add<store::mysql::engine>({.server = "db.example:3306", .user = "shop"});
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/bounds.hpp>
#include <weft/base/time.hpp>
#include <weft/service/option_fault.hpp>
#include <weft/store/mysql/tls_options.hpp>

namespace weft::store::mysql {

struct engine_options {
  /// "db.example:3306", "unix:/run/mysqld/mysqld.sock", or all of it at once:
  /// "mysql://shop@db.example:3306/shop?tls=verify" (server_url.hpp). Of several with commas
  /// between them, which have the same rows, the first that can be connected to is used until it
  /// fails. Empty: there is none.
  std::string server{};
  /// Servers that follow that one, "two.example,three.example:3307": as long as one of them is
  /// there rows are read from it, though it may be behind (replicas.hpp). Their user, password and
  /// TLS are those of `server`. Empty: there are none.
  std::string replicas{};
  std::string user{};
  /// The file whose first line is the user's password; none: there is no password.
  std::string password_file{};
  /// Those that are served; none: all that the user may see, but the server's own.
  std::vector<std::string> databases{};
  /// What `server` says after a question mark counts for more.
  tls_options tls{};

  /// Connections of each shard.
  unsigned connections_max = 8;
  /// Calls of a shard that wait for one; one more is refused.
  unsigned waiting_max = 1024;
  /// How long a server may take to let a connection in, or its network may be silent where an
  /// answer is due, until the next is tried.
  duration connect_timeout = std::chrono::seconds{5};
  /// How long the server is waited for when the program starts, before it goes on without.
  duration start_timeout = std::chrono::seconds{5};
  /// The first pause after a failure to connect, and the longest.
  duration retry_first = std::chrono::milliseconds{100};
  duration retry_most = std::chrono::seconds{5};
  /// Statements that each connection keeps prepared.
  unsigned statements_max = 64;

  /// How long a batch of look-ups may take, and a batch of writes until it is committed.
  duration read_time = std::chrono::seconds{10};
  duration write_time = std::chrono::seconds{10};
  /// How long the server may take for a single statement, so that of a scan, or a query in SQL.
  duration statement_time = std::chrono::seconds{10};
  /// How much memory the rows of a batch of look-ups may take, and any one row.
  std::uint64_t read_memory_bytes = std::uint64_t{64} * 1024 * 1024;
  /// Queries in SQL that each shard makes at a time, and how many may wait for that.
  unsigned queries_max = 2;
  unsigned queries_waiting_max = 32;
  /// How long one waits for that at most.
  duration query_wait = std::chrono::seconds{5};
  /// A query that nobody waits for any more counts as one of queries_max until the server has ended
  /// it, or has not answered for so long.
  duration unseen_query_time = std::chrono::minutes{10};
  /// How often it is looked whether tables have changed. Who meets an unknown one looks, too.
  duration schema_refresh = std::chrono::seconds{30};

  static constexpr auto bounds() {
    constexpr duration least = std::chrono::milliseconds{1};
    constexpr duration most = std::chrono::hours{1};
    return weft::bounds(
        weft::within<&engine_options::connections_max>(1U, 10'000U),
        weft::within<&engine_options::waiting_max>(1U, 1'000'000U),
        weft::within<&engine_options::connect_timeout>(least, most),
        weft::within<&engine_options::start_timeout>(least, most),
        weft::within<&engine_options::retry_first>(least, most),
        weft::within<&engine_options::retry_most>(least, most),
        weft::within<&engine_options::statements_max>(8U, 10'000U),
        weft::within<&engine_options::read_time>(least, most),
        weft::within<&engine_options::write_time>(least, most),
        weft::within<&engine_options::statement_time>(least, most),
        weft::within<&engine_options::read_memory_bytes>(std::uint64_t{1} << 20U,
                                                         std::uint64_t{1} << 32U),
        weft::within<&engine_options::queries_max>(1U, 1'000U),
        weft::within<&engine_options::unseen_query_time>(least, most),
        weft::at_least<&engine_options::schema_refresh>(duration{std::chrono::milliseconds{10}}));
  }
  /// Of the servers' names, and of the files of TLS.
  [[nodiscard]] std::vector<option_fault> faults() const;
};

}  // namespace weft::store::mysql

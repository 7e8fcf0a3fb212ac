// What the numbers mean by which MySQL's servers, and its client library, say why they did not do
// something.
//
// Contract: numbers of servers are those that MySQL and MariaDB share, and the few of either's that
// matter here; one that is not known is failure_kind::other. Source: "Server Error Message
// Reference" of MySQL 8, "MariaDB Error Code Reference".
//
//   if (kind_of(1062) == failure_kind::duplicate_key) ...
#pragma once

#include <string_view>

#include <weft/base/error.hpp>
#include <weft/store/failure.hpp>

namespace weft::store::mysql {

/// Whether the server has said it, and not the client library of the way to it.
[[nodiscard]] bool is_of_server(unsigned number) noexcept;

/// That of a server which refused before TLS began, as the library tells of it in words; else
/// `number`.
[[nodiscard]] unsigned number_before_tls(unsigned number, std::string_view message) noexcept;

/// Whether the connection is at its end with it.
[[nodiscard]] bool ends_connection(unsigned number) noexcept;

/// Whether the server, or its part of a cluster, serves nobody now.
[[nodiscard]] bool is_of_whole_server(unsigned number) noexcept;

/// Whether a statement that is answered so was not begun.
[[nodiscard]] bool was_not_begun(unsigned number) noexcept;

/// Whether a statement that commits itself may be done although it is answered so: it has failed in
/// the midst of its commit, and others of the cluster may have it.
[[nodiscard]] bool may_be_done(unsigned number) noexcept;

/// Whether nothing is left of a transaction whose COMMIT is answered so. Of all other answers but
/// success nobody knows.
[[nodiscard]] bool undoes_commit(unsigned number) noexcept;

/// Whether a read, which takes no locks, has waited in vain for what others of a cluster have
/// written: a node of Galera was cut off from them in the middle of it (wsrep_sync_wait).
[[nodiscard]] bool has_waited_in_vain(unsigned number) noexcept;

/// Whether texts cannot be compared, one of which has characters that the other's charset has not.
[[nodiscard]] bool is_of_charsets(unsigned number) noexcept;

/// Whether the server does not have a prepared statement any more, or not as it was: it has done
/// nothing, and it is to be prepared again.
[[nodiscard]] bool is_of_lost_statement(unsigned number) noexcept;

/// Whether the server has ended a statement that took too long.
[[nodiscard]] bool is_of_time(unsigned number) noexcept;

/// Whether a server that follows another may fail so at a read since it lacks what that one has: a
/// table, a column, a right.
[[nodiscard]] bool may_be_behind(failure_kind why) noexcept;

/// What whoever asks for rows is told instead of the server's `message`, which names accounts or
/// machines; empty: they may be told that. Static storage.
[[nodiscard]] std::string_view public_text(unsigned number, std::string_view message) noexcept;

[[nodiscard]] failure_kind kind_of(unsigned number) noexcept;

/// Of the server's: errc::unavailable (may work later), errc::exhausted (it is full),
/// errc::invalid_argument. Of the way to it: errc::reset, errc::unavailable, errc::protocol_error,
/// errc::exhausted, errc::limit_exceeded, errc::unsupported.
[[nodiscard]] errc code_of(unsigned number) noexcept;

}  // namespace weft::store::mysql

// What the numbers mean by which MySQL's servers, and its client library, say why they did not do
// something.
//
// Contract: numbers of servers are those that MySQL and MariaDB share, and the few of either's that
// matter here; one that is not known is failure_kind::other. Source: "Server Error Message
// Reference" of MySQL 8, "MariaDB Error Code Reference".
//
//   if (kind_of(1062) == failure_kind::duplicate_key) ...
#pragma once

#include <weft/base/error.hpp>
#include <weft/store/failure.hpp>

namespace weft::store::mysql {

/// Whether the server has said it, and not the client library of the way to it.
[[nodiscard]] bool is_of_server(unsigned number) noexcept;

/// Whether the connection is at its end with it.
[[nodiscard]] bool ends_connection(unsigned number) noexcept;

/// Whether texts cannot be compared, one of which has characters that the other's charset has not.
[[nodiscard]] bool is_of_charsets(unsigned number) noexcept;

/// Whether the server has ended a statement that took too long.
[[nodiscard]] bool is_of_time(unsigned number) noexcept;

[[nodiscard]] failure_kind kind_of(unsigned number) noexcept;

/// Of the server's: errc::unavailable (may work later), errc::exhausted (it is full),
/// errc::invalid_argument. Of the way to it: errc::reset, errc::unavailable, errc::protocol_error,
/// errc::exhausted, errc::limit_exceeded, errc::unsupported.
[[nodiscard]] errc code_of(unsigned number) noexcept;

}  // namespace weft::store::mysql

// Why a request of the client has no answer, or not the one that was asked for.
//
// Contract: `why` is what callers tell apart, message() one line for people, with the method, the
// URL and the cause. It converts to weft::error, so that `co_return fail(answer.error())` passes it
// on. A value.
//
//   errc::invalid_argument  the request is wrong: nothing was sent
//   errc::refused, ...      nobody answers there; the message has each address that was tried; or a
//                           proxy refuses (answered() is 407 if it requires credentials)
//   errc::timed_out         the earlier of the caller's deadline and client_options::timeout
//   errc::cancelled         the caller was asked to stop, or the client was
//   errc::reset             the connection broke before the response was whole
//   errc::protocol_error    what came is no HTTP, or no TLS that could be trusted
//   errc::limit_exceeded    a response beyond client_options::head_bytes or body_bytes
//   errc::unavailable       the client has been stopped
// Of get<T>() and the like, also, with what was answered in `answered`:
//   errc::not_found         404 and 410
//   errc::invalid_argument  another 4xx
//   errc::unavailable       5xx, 408 and 429: perhaps later
//   errc::protocol_error    any other status but 2xx, or a body that is not the JSON of a T
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <utility>

#include <weft/base/error.hpp>
#include <weft/http/status.hpp>

namespace weft::http {

class client_error {
 public:
  client_error(error why, std::string message, std::optional<status> answered = {}) noexcept
      : why_{why}, answered_{answered}, message_{std::move(message)} {}

  [[nodiscard]] error why() const noexcept { return why_; }
  operator error() const noexcept { return why_; }  // implicit: `fail(answer.error())`
  /// "GET http://127.0.0.1:8080/orders: cannot connect to 127.0.0.1:8080: connection refused".
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  /// The status of a response that was not the one asked for; none: no whole response came.
  [[nodiscard]] std::optional<status> answered() const noexcept { return answered_; }

  friend bool operator==(const client_error& left, errc right) noexcept {
    return left.why_ == right;
  }

 private:
  error why_;
  std::optional<status> answered_;
  std::string message_;
};

template <class T>
using client_result = std::expected<T, client_error>;

}  // namespace weft::http

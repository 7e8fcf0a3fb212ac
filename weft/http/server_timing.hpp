// Where a request's time went, for the developer tools of browsers (Server Timing, W3C).
//
// Contract: a middleware, which has each reply say how long it took, in turns of the loop, from
// there to its head; without an allocation. A handler that knows more adds a field of its own to
// its reply, by append_server_timing(), which appends "name;dur=1.234" and, where there is one,
// ";desc=\"...\"", after ", " where there is something before it: the value of one Server-Timing
// field. Milliseconds with three digits. It tells everyone who may read the reply: send it to those
// you trust alone. Allocates only what `out` does.
//
//   http.wrap_all(http::server_timing{});   // Server-Timing: total;dur=12.031
//   std::string value;
//   (void)http::append_server_timing(value, "db", query_time);
//   (void)http::append_server_timing(value, "cache", {}, "hit");  // db;dur=1.200, cache;desc="hit"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/http/exchange.hpp>

namespace weft::http {

struct server_timing {
  void operator()(exchange& e, handler& next) const {
    e.time_reply();
    next(e);
  }
};

/// The whole field line of a reply that was given at once, as nearly all are.
inline constexpr std::string_view at_once_timing_field = "Server-Timing: total;dur=0.000\r\n";

/// A whole field line, with the time from a middleware to its reply.
void append_server_timing_field(std::string& out, duration length);

// errc::invalid_argument, and nothing was appended: the name is no token, or the description holds
// a control character.
[[nodiscard]] result<> append_server_timing(std::string& out, std::string_view name,
                                            std::optional<duration> length,
                                            std::string_view description = {});

}  // namespace weft::http

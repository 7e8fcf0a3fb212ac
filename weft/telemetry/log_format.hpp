// How the lines of the log look: for people on a terminal, for programs elsewhere.
//
// Contract: process wide, any thread. `pretty` is a line such as
//
//   2026-11-21T10:00:00.123Z info  http.server: listening on 127.0.0.1:8080
//
// in colours if stderr is a terminal, which NO_COLOR and TERM=dumb can say no to. `json` is an
// object a line, with `time` (RFC 3339, UTC), `level`, `message`, and `logger` if one has spoken.
// `auto_` is pretty if stderr is a terminal now, else json. What was logged is escaped in both.
// Times have milliseconds.
//
//   use_log_format(log_format::auto_);
#pragma once

#include <cstdint>

namespace weft {

enum class log_format : std::uint8_t { auto_, pretty, json };

/// From now on. Lines that go to a sink (log.hpp) have no format.
void use_log_format(log_format wanted) noexcept;

}  // namespace weft

// The one place where everything in weft says what happened.
//
// Problem: a library must be able to speak without choosing its user's log library, and a line that
// is not wanted must cost nothing. Contract: process wide; every function here may be called from
// any thread at any time. A message is one line of UTF-8, already formatted; the caller formats
// only after asking enabled(). Messages at or above the current level (at first: info) go to the
// sink. The default sink writes `2026-11-21T10:00:00.123Z info  message` to stderr by a single
// write(2), without allocating for messages below 1 KiB, with control characters escaped so that
// input from a peer cannot forge a line. It never waits for stderr: what that does not take is
// lost, counted, and told of in the next line that it takes.
//
//   weft::log::info("listening on 127.0.0.1:8080");
//   if (weft::log::enabled(weft::log::level::debug)) {
//     weft::log::debug(weft::format("accepted descriptor {}", fd));
//   }
#pragma once

#include <weft/base/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::log {

enum class level { trace, debug, info, warning, error, off };

// Messages below `lowest` are dropped from now on; level::off drops all.
void set_level(level lowest) noexcept;
[[nodiscard]] level current_level() noexcept;

// Whether a message of this level would reach the sink now. A call and one relaxed load.
[[nodiscard]] bool enabled(level at) noexcept;

// Receives every message that passes the level, on the thread that wrote it, several threads at
// once. It must not throw and should not block. `message` is valid during the call only. What a
// sink itself logs goes to the default sink, so that a sink may use weft code without recursing.
using sink = void (*)(level at, std::string_view message, void* context);

// Sends messages to `target` from now on; nullptr means the default sink. When it returns no thread
// is inside the previous sink any more, so that sink's context may be destroyed. Not to be called
// from within a sink.
void set_sink(sink target, void* context) noexcept;

// Logs one line. errno is left as it was. Writing at level::off is a mistake.
void write(level at, std::string_view message) noexcept;

inline void trace(std::string_view message) noexcept { write(level::trace, message); }
inline void debug(std::string_view message) noexcept { write(level::debug, message); }
inline void info(std::string_view message) noexcept { write(level::info, message); }
inline void warning(std::string_view message) noexcept { write(level::warning, message); }
inline void error(std::string_view message) noexcept { write(level::error, message); }

// A line of the logger of this name; of nobody in particular if that is empty.
struct entry {
  level at;
  std::string_view logger;
  std::string_view message;
};

// Logs one line, whatever the level of the program: a logger has asked for its own
// (log_levels.hpp). A sink gets "logger: message".
void write(const entry& said) noexcept;

// How the lines of the default sink look: appends one with its end to `out`. Called on any thread,
// once at a time; what it throws makes a plain line.
using formatter = void (*)(const entry& said, std::string& out);

// From now on; nullptr: plain again.
void set_formatter(formatter look) noexcept;

// How many lines stderr has not taken since the program began.
[[nodiscard]] std::uint64_t lines_lost() noexcept;

// "trace", "debug", "info", "warning", "error" or "off". Static storage.
[[nodiscard]] std::string_view to_string(level at) noexcept;

// The inverse of to_string; exact lower case only. Anything else is errc::invalid_argument.
[[nodiscard]] result<level> parse_level(std::string_view name) noexcept;

}  // namespace weft::log

// System calls that a loop cannot do without, and the end of a loop that is refused one.
//
// Problem: a container's policy (seccomp) or an old kernel may refuse single calls. A loop whose
// wait is refused would turn without a pause, answer nothing and hear no signal; one that may not
// accept or send would look alive. Contract: find_refused_call() makes each call that serving needs
// once, on a descriptor that is none: a system that has the call answers EBADF, and nothing
// happens. A call that is refused later, or that only a working loop can make, ends the process.
// Others that make calls long after the start have lists of their own (call_probe).
//
//   if (const auto refused = find_refused_call(calls_of::epoll)) give_up(*refused);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace weft {

struct refused_call {
  const char* name;
  int code;  // EPERM, EACCES or ENOSYS

  /// "sendto: Operation not permitted".
  [[nodiscard]] std::string message() const;
};

/// A system call, made so that it does nothing: it fails, unless a policy refuses it before, as one
/// of a descriptor that is none, say.
struct call_probe {
  const char* name;
  long (*call)() noexcept;
};

enum class calls_of : std::uint8_t {
  every_loop,
  epoll  // beside those
};

/// The first of them that the system refuses.
[[nodiscard]] std::optional<refused_call> find_refused_call(calls_of which) noexcept;
[[nodiscard]] std::optional<refused_call> find_refused_call(
    std::span<const call_probe> among) noexcept;

/// Whether an errno says that the call itself is forbidden or unknown.
[[nodiscard]] bool is_refusal(int code) noexcept;

/// Says in the log which call the loop of this thread is refused, and ends the process with exit
/// code 1: no task can be told, since none is resumed any more.
[[noreturn]] void end_refused_loop(refused_call refused) noexcept;

}  // namespace weft

// Why an operation did not do what it was asked.
//
// Problem: run-time failures (a peer that hangs up, a deadline, a full queue) are ordinary results
// here, so they must be as cheap to return as an integer, and a caller must be able to decide what
// to do without knowing which backend or system call produced them.
//
// Contract: an error is 8 bytes and trivially copyable. `code()` is one of a short list that
// callers branch on; `os_errno()` keeps the system's number, where there was one, for people to
// read. There is no "no error" value: success is the other side of weft::result. Conversion to
// std::error_code is in <weft/base/error_code.hpp>: <system_error> costs several times what this
// header does, and few files need it.
//
//   weft::result<> r = co_await stream.write(bytes);
//   if (!r && r.error() == weft::errc::timed_out) retry();
//   if (!r) weft::log::warning(r.error().message());
#pragma once

#include <cstdint>
#include <iosfwd>  // declares std::string without defining it, in both standard libraries

namespace weft {

// What callers tell apart. The numbers are stable: they may appear in logs and metrics.
enum class errc : std::uint16_t {
  cancelled = 1,     // somebody asked for the operation to stop, and it did
  timed_out,         // its deadline passed
  closed,            // the stream, channel or queue has ended in good order
  reset,             // the peer broke the connection
  refused,           // nobody accepts at the address
  limit_exceeded,    // a configured limit (size, count, depth) forbids it
  invalid_argument,  // the caller's input is wrong; trying again will not help
  protocol_error,    // the peer does not keep to the protocol
  address_in_use,    // another socket owns the listening address
  not_found,         // no such file, key, service or route
  exhausted,         // out of memory, descriptors or buffers; may work later
  unsupported,       // this kernel, backend or build cannot do it
  unavailable,       // the network, host or service cannot be reached now
  system,            // any other system error; see os_errno()
};

// The enumerator's own name, such as "timed_out"; "unknown" for a value outside the list. The text
// is in static storage.
[[nodiscard]] const char* to_string(errc code) noexcept;

class [[nodiscard]] error {
 public:
  constexpr error(errc code) noexcept : code_(code) {}  // implicit: `return fail(errc::closed);`

  // `os_errno` is a positive errno value, or 0 where the system was not involved.
  constexpr error(errc code, int os_errno) noexcept : code_(code), os_errno_(os_errno) {}

  // From a positive errno value (io_uring's `res` comes negated). Values that callers act on get
  // their own code, all others errc::system; the number itself is kept either way.
  static error from_errno(int os_errno) noexcept;

  [[nodiscard]] constexpr errc code() const noexcept { return code_; }
  [[nodiscard]] constexpr int os_errno() const noexcept { return os_errno_; }

  // One line for people, such as "connection reset (Connection reset by peer, errno 104)". Its text
  // is not part of the contract. The caller includes <string>.
  [[nodiscard]] std::string message() const;

  // Two errors are equal when both parts are; an error equals an errc when its code does.
  friend constexpr bool operator==(error, error) noexcept = default;
  friend constexpr bool operator==(error left, errc right) noexcept { return left.code_ == right; }

 private:
  errc code_;
  int os_errno_ = 0;
};

static_assert(sizeof(error) == 8);

}  // namespace weft

// Checks for mistakes of the programmer.
//
// Problem: a broken invariant that goes on running corrupts memory far from its cause. Contract:
// WEFT_ASSERT is on in every build; it costs one compare and a branch never taken, and a failure
// prints `file:line: assertion failed: condition: message` on stderr and aborts. WEFT_DEBUG_ASSERT
// is for checks on hot paths: with NDEBUG it is compiled, so that it cannot rot, but neither
// evaluated nor paid for. The message is a string literal that says what the caller should have
// done.
//
//   WEFT_ASSERT(capacity > 0, "a channel needs room for one item");
//   WEFT_DEBUG_ASSERT(!hook.is_linked(), "the item is already in a list");
#pragma once

namespace weft::detail {

// Never returns; safe in any thread and in signal handlers (it neither allocates nor locks).
[[noreturn, gnu::cold]] void assertion_failed(const char* file, int line, const char* condition,
                                              const char* message) noexcept;

}  // namespace weft::detail

#define WEFT_ASSERT(condition, message) \
  ((condition) ? static_cast<void>(0)   \
               : ::weft::detail::assertion_failed(__FILE__, __LINE__, #condition, message))

#ifdef NDEBUG
#define WEFT_DEBUG_ASSERT(condition, message) static_cast<void>(sizeof(!(condition)))
#else
#define WEFT_DEBUG_ASSERT(condition, message) WEFT_ASSERT(condition, message)
#endif

// Calls that nearly no run of their caller makes.
//
// Problem: one call, though it is hardly ever made, has its caller save registers on the stack
// each time it runs: of a small coroutine that is a tenth of its time. Contract: a function so
// declared is never inlined and, with compilers that can, saves itself what it uses.
//
//   WEFT_RARE_CALL void note_failure() noexcept;
#pragma once

#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define WEFT_RARE_CALL __attribute__((noinline, preserve_most))
#else
#define WEFT_RARE_CALL __attribute__((noinline))
#endif

// Parameters that the returned value refers to.
//
// Problem: `auto sending = socket.send(make_text());` compiles, and the text is gone before it is
// sent. Contract: an attribute for a parameter. Compilers that know it (Clang) warn where the
// returned value outlives a temporary argument; others ignore it.
//
//   message_send send(std::string_view text WEFT_LIFETIME_BOUND) noexcept;
#pragma once

#if defined(__clang__)
#define WEFT_LIFETIME_BOUND [[clang::lifetimebound]]
#else
#define WEFT_LIFETIME_BOUND
#endif

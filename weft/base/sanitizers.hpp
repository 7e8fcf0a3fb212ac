// Whether this build watches itself: WEFT_ADDRESS_SANITIZER, and WEFT_SANITIZED for that or another
// sanitizer, are 1 or 0. Such a build owns malloc and the calls of libc, and is some ten times
// slower: what is tried a million times elsewhere is tried less often in it.
#pragma once

#if defined(__has_feature)
#define WEFT_HAS_FEATURE(name) __has_feature(name)
#else
#define WEFT_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || WEFT_HAS_FEATURE(address_sanitizer)
#define WEFT_ADDRESS_SANITIZER 1
#else
#define WEFT_ADDRESS_SANITIZER 0
#endif

#if WEFT_ADDRESS_SANITIZER || defined(__SANITIZE_THREAD__) || \
    WEFT_HAS_FEATURE(thread_sanitizer) || WEFT_HAS_FEATURE(memory_sanitizer)
#define WEFT_SANITIZED 1
#else
#define WEFT_SANITIZED 0
#endif

#undef WEFT_HAS_FEATURE

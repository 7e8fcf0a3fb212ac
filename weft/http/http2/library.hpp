// nghttp2 as the rest of this folder uses it: its objects owned, its memory from the shard's pool.
//
// Contract: internal to http. A client's session, and the decoding of fields for a server's. What a
// warm request makes and frees again comes from the frame pool of its thread. One shard.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string_view>

#include <weft/http/log_dropped.hpp>

namespace weft::http::http2 {

/// What a client sends first (RFC 9113 section 3.4).
inline constexpr std::string_view client_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Of the fields of a message: more are not sent. What nghttp2 finds too long it passes over
/// without a word; it counts some bytes more for each field, and is allowed those.
inline constexpr std::size_t fields_most_bytes = 1024 * 1024;

struct library_deleter {
  void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
  void operator()(nghttp2_option* option) const noexcept { nghttp2_option_del(option); }
  void operator()(nghttp2_session_callbacks* callbacks) const noexcept {
    nghttp2_session_callbacks_del(callbacks);
  }
};
using session_handle = std::unique_ptr<nghttp2_session, library_deleter>;
using option_handle = std::unique_ptr<nghttp2_option, library_deleter>;
using callbacks_handle = std::unique_ptr<nghttp2_session_callbacks, library_deleter>;

/// Of this thread's frame pool; lasts as long as the program.
[[nodiscard]] nghttp2_mem* pooled_memory() noexcept;

/// "REFUSED_STREAM", of a code of RFC 9113 section 7.
[[nodiscard]] std::string_view name_of_code(std::uint32_t code) noexcept;

/// What nghttp2's functions are given as bytes.
[[nodiscard]] inline std::string_view text_of(const std::uint8_t* text, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(text), size};
}

/// What nghttp2 calls, which knows no exceptions: one ends the connection.
template <class F>
int guarded(F f) noexcept {
  try {
    return f();
  } catch (const std::exception& why) {
    log_dropped(why);
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
}

/// Options for either side. Throws std::bad_alloc.
[[nodiscard]] option_handle make_options();
[[nodiscard]] callbacks_handle make_callbacks();

}  // namespace weft::http::http2

// From a plain struct to JSON text.
//
// Problem: replies are written a hundred thousand times a second, so the text must be made in one
// pass, in memory that is there already. Contract: what read.hpp takes as T, and std::string_view
// members too. The text is compact (no white space) and RFC 8259 to the letter, with one thing left
// to the caller: strings must be UTF-8, their bytes are copied as they are. Control characters are
// escaped; NaN and infinities, which JSON does not have, become null; empty std::optional members
// are left out. Reuses the string's capacity: no allocation once it is large enough (for texts over
// 768 bytes: 256 bytes larger than the text). Safe on any thread. Based on glaze.
//
//   std::string text;
//   json::write(ping{.sequence = 2}, text);  // text is {"sequence":2}
#pragma once

#include <weft/base/assert.hpp>
#include <weft/json/reflection.hpp>

#include <glaze/json/write.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft::json {

namespace detail {

struct write_options : glz::opts {
  bool escape_control_characters = true;
};

// What glaze's writer asks of a context; its own one carries strings for readers.
struct write_context {
  glz::error_code error{};
  std::string_view custom_error_message;
  std::uint32_t depth = 0;
};

inline constexpr std::size_t does_not_fit = std::string_view::npos;

// Writes from `start` on; the index behind the text, or does_not_fit. glaze wants
// write_padding_bytes of room beyond what it writes.
template <class T>
[[nodiscard]] std::size_t encode(const T& value, std::span<char> room, std::size_t start) {
  write_context context;
  std::size_t end = start;
  glz::to<glz::JSON, T>::template op<write_options{}>(value, context, room, end);
  if (context.error == glz::error_code::none) [[likely]]
    return end;
  WEFT_ASSERT(context.error == glz::error_code::buffer_overflow,
              "json::write: a std::variant is valueless, or its alternatives cannot be told apart");
  return does_not_fit;
}

}  // namespace detail

// Writes into `room`; the text there, or nothing if it is too short: 256 bytes more than the text
// always do.
template <class T>
[[nodiscard]] std::optional<std::string_view> write_into(const T& value, std::span<char> room) {
  const std::size_t size = detail::encode(value, room, 0);
  if (size == detail::does_not_fit) return std::nullopt;
  return std::string_view{room.data(), size};
}

// Adds to the end of `out`, which keeps what it held. Short texts are made on the stack and copied,
// which is cheaper than preparing the string's memory; long ones in the string's unused capacity,
// doubled until they fit.
template <class T>
void append(const T& value, std::string& out) {
  constexpr std::size_t stack_bytes = 1024;
  const std::size_t start = out.size();
  if (out.capacity() - start < stack_bytes) {
    char room[stack_bytes];
    if (const auto text = write_into(value, room)) [[likely]] {
      out.append(*text);
      return;
    }
    out.reserve(start + 2 * stack_bytes);
  }
  for (std::size_t end = detail::does_not_fit; end == detail::does_not_fit;) {
    out.resize_and_overwrite(out.capacity(), [&](char* data, std::size_t size) {
      end = detail::encode(value, {data, size}, start);
      return end == detail::does_not_fit ? start : end;
    });
    if (end == detail::does_not_fit) out.reserve(2 * out.capacity());
  }
}

// Replaces what `out` held.
template <class T>
void write(const T& value, std::string& out) {
  out.clear();
  append(value, out);
}

}  // namespace weft::json

// The smallest answer to a ping that a load generator accepts.
//
// The ceilings measure what the kernel charges for one request, so the code around their system
// calls must cost next to nothing: one pass over the bytes, no allocation, one reply written in
// place. It is no model of an HTTP server: it knows Content-Length and nothing else of RFC 9112.
//
// Contract: `serve_one` reads at most one request from the front of `input`. When it is complete
// it appends the reply to `replies` and says how many bytes it used.
//
//   ceiling::reply_buffer replies;
//   auto [what, used] = ceiling::serve_one("POST /ping HTTP/1.1\r\nContent-Length: 14\r\n\r\n"
//                                          "{\"sequence\":2}", replies);
//   send(fd, replies.data(), replies.size(), MSG_NOSIGNAL);
#pragma once

#include <strings.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ceiling {

// Most bytes of requests looked at together.
inline constexpr std::size_t input_limit = std::size_t{64} * 1024;

// Replies to at most `input_limit` bytes of requests. Never grows and never overflows: see below.
class reply_buffer {
 public:
  // The shortest request ("P\r\n\r\n" does not pass `serve_one`) is a request line with its blank
  // line; the longest reply is a ping with a 20-digit sequence.
  static constexpr std::size_t shortest_request = std::string_view{"GET / HTTP/1.1\r\n\r\n"}.size();
  static constexpr std::size_t longest_reply = 160;
  static constexpr std::size_t capacity = (input_limit / shortest_request + 1) * longest_reply;

  void clear() { size_ = 0; }
  void append(std::string_view text) {
    std::memcpy(bytes_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }
  void append(std::uint64_t number) {
    char* const at = bytes_.data() + size_;
    size_ += static_cast<std::size_t>(std::to_chars(at, at + 20, number).ptr - at);
  }

  [[nodiscard]] const char* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::string_view view() const { return {data(), size()}; }

 private:
  std::size_t size_ = 0;
  std::array<char, capacity> bytes_;
};

enum class verdict : std::uint8_t { complete, incomplete, malformed };

struct outcome {
  verdict what;
  std::size_t used;  // bytes of input; 0 unless complete
};

namespace detail {

// The value of Content-Length in `head` (request line and headers), or 0.
inline std::size_t content_length(std::string_view head) {
  constexpr std::string_view name = "content-length:";
  for (std::size_t line = head.find('\n'); line != head.npos; line = head.find('\n', line)) {
    ++line;
    if (head.size() - line <= name.size()) break;
    if ((head[line] | 0x20) != 'c') continue;
    if (::strncasecmp(head.data() + line, name.data(), name.size()) != 0) continue;
    const char* value = head.data() + line + name.size();
    const char* const end = head.data() + head.size();
    while (value != end && *value == ' ') ++value;
    std::size_t length = 0;
    std::from_chars(value, end, length);
    return length;
  }
  return 0;
}

// The N of {"sequence": N}; false when there is none.
inline bool read_sequence(std::string_view body, std::uint64_t& sequence) {
  constexpr std::string_view name = "\"sequence\"";
  const std::size_t found = body.find(name);
  if (found == body.npos) return false;
  const char* value = body.data() + found + name.size();
  const char* const end = body.data() + body.size();
  while (value != end && (*value == ' ' || *value == ':')) ++value;
  return std::from_chars(value, end, sequence).ec == std::errc{};
}

inline std::uint64_t count_digits(std::uint64_t number) {
  std::uint64_t digits = 1;
  for (; number >= 10; number /= 10) ++digits;
  return digits;
}

}  // namespace detail

inline outcome serve_one(std::string_view input, reply_buffer& replies) {
  constexpr std::string_view blank_line = "\r\n\r\n";
  const std::size_t found = input.find(blank_line);
  if (found == input.npos) return {verdict::incomplete, 0};
  if (found + blank_line.size() < reply_buffer::shortest_request) return {verdict::malformed, 0};

  const std::size_t body_start = found + blank_line.size();
  const std::size_t length = detail::content_length(input.substr(0, found));
  if (length > input_limit) return {verdict::malformed, 0};
  if (input.size() - body_start < length) return {verdict::incomplete, 0};

  if (input.front() != 'P') {
    replies.append(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\n"
        "Hello, World!");
    return {verdict::complete, body_start + length};
  }
  std::uint64_t sequence = 0;
  if (!detail::read_sequence(input.substr(body_start, length), sequence)) {
    return {verdict::malformed, 0};
  }
  constexpr std::uint64_t frame = std::string_view{"{\"sequence\":}"}.size();
  replies.append("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ");
  replies.append(frame + detail::count_digits(sequence));
  replies.append("\r\n\r\n{\"sequence\":");
  replies.append(sequence);
  replies.append("}");
  return {verdict::complete, body_start + length};
}

}  // namespace ceiling

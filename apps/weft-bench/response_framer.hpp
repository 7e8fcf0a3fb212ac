// Where one HTTP/1.1 response ends (RFC 9112 section 6.3), in as little work as possible.
//
// A load generator reads the same head a million times. A `known_head` keeps the last one that was
// parsed; when a response starts with the very same bytes its framing is known without parsing.
// That is exact, not a guess: equal bytes that answer alike frame equally. One known_head serves
// all connections of a thread.
//
// Contract: feed bytes as they come, in pieces of any size. Stops at the end of a response; bytes
// beyond it belong to the next. Interim (1xx) responses are skipped. Not for a response to CONNECT.
//
//   weft::bench::known_head known;
//   weft::bench::response_framer framer{known};
//   auto [state, used] = framer.feed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
//   // state == complete, used == 40, framer.status() == 200, framer.keeps_alive()
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::bench {

// What a response's head says about what follows.
struct framing {
  enum class body : std::uint8_t { counted, chunked, until_close };

  int status = 0;
  body ends = body::counted;
  bool keeps_alive = true;
  std::uint64_t length = 0;  // of a counted body, in bytes
};

// False when `head` (status line and fields, with the blank line) is not a valid response head.
// `answers_head`: the request was HEAD, so no body follows whatever the fields say.
bool parse_head(std::string_view head, bool answers_head, framing& result);

struct known_head {
  std::string bytes;
  bool answers_head = false;
  framing means;
};

class response_framer {
 public:
  enum class progress : std::uint8_t { incomplete, complete, malformed };
  struct step {
    progress state;
    std::size_t used;  // bytes taken; all of them unless complete
  };

  static constexpr std::size_t head_limit = std::size_t{64} * 1024;

  explicit response_framer(known_head& known) : known_(&known) {}

  // `answers_head`: the response is one to HEAD.
  step feed(std::string_view bytes, bool answers_head = false);

  // The peer closed. True when that is how the response was to end.
  [[nodiscard]] bool ends_at_close() const { return part_ == part::until_close; }
  // Forgets a half-read response, for a new connection.
  void reset();

  // Of the response that is complete or ends at the close.
  [[nodiscard]] int status() const { return current_.status; }
  [[nodiscard]] bool keeps_alive() const { return current_.keeps_alive; }

 private:
  enum class part : std::uint8_t {
    head,
    counted,
    until_close,
    chunk_size,
    chunk_extension,
    chunk_data,
    chunk_end,
    trailer
  };

  // Each takes what belongs to its part from the front of `rest`; false: malformed.
  bool take_head(std::string_view& rest);
  bool take_chunk_size(std::string_view& rest);
  bool take_chunk_end(std::string_view& rest);
  void take_data(std::string_view& rest, part next);
  void take_trailer(std::string_view& rest);
  void begin_body();

  known_head* known_;
  bool answers_head_ = false;
  bool done_ = false;
  part part_ = part::head;
  framing current_;
  std::uint64_t left_ = 0;  // of a counted body or a chunk, in bytes
  std::uint8_t line_ = 0;   // chunk size: its digits; trailer: bytes on this line, at most 1
  std::string partial_head_;
};

}  // namespace weft::bench

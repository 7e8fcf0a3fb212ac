// Whether bytes that come in pieces are UTF-8, as soon as it can be told.
//
// Contract: internal to http; by RFC 3629, as utf8.hpp. feed() is given the next bytes, wherever
// they were cut, and says whether what has come can still become UTF-8; once it cannot, every later
// call says so. is_whole(): no character is left unfinished. ASCII is looked at 16 bytes at a time.
// Allocates nothing. Single thread; 8 bytes.
//
//   utf8_checker text;
//   if (!text.feed(piece) || (is_last && !text.is_whole())) fail(close_code::invalid_data);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::http::ws {

class utf8_checker {
 public:
  [[nodiscard]] bool feed(std::string_view bytes) noexcept;
  [[nodiscard]] bool is_whole() const noexcept { return !failed_ && begun_bytes_ == 0; }
  void reset() noexcept { *this = utf8_checker{}; }

 private:
  [[nodiscard]] bool finish_character(std::string_view& bytes) noexcept;

  std::array<char, 4> begun_{};  // of a character whose end has not come
  std::uint8_t begun_bytes_ = 0;
  bool failed_ = false;
};

/// All of it.
[[nodiscard]] inline bool is_utf8(std::string_view text) noexcept {
  utf8_checker checker;
  return checker.feed(text) && checker.is_whole();
}

}  // namespace weft::http::ws

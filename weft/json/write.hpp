// From a plain struct to JSON text.
//
// Problem: replies are written a hundred thousand times a second, so the text must be made in one
// pass, in memory that is there already. Contract: what read.hpp takes as T, and std::string_view
// members too. The text is compact (no white space) and RFC 8259 to the letter, with one thing left
// to the caller: strings must be UTF-8, their bytes are copied as they are. Control characters are
// escaped; NaN and infinities, which JSON does not have, become null; empty std::optional members
// are left out. Reuses the string's capacity: writing the same text again allocates nothing. What
// has no room on the stack wants room for the worst that escaping can do, six bytes for one, before
// it is cut to its length. Safe on any thread. Based on glaze.
//
//   std::string text;
//   json::write(ping{.sequence = 2}, text);  // text is {"sequence":2}
#pragma once

#include <weft/base/assert.hpp>
#include <weft/json/named_enum.hpp>
#include <weft/json/plain_output.hpp>
#include <weft/json/reflection.hpp>

#include <glaze/json/write.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft::json {

namespace detail {

struct write_options : glz::opts {
  bool escape_control_characters = true;
  bool puts_plain_strings = true;
};

// What glaze's writer asks of a context; its own one carries strings for readers.
struct write_context {
  glz::error_code error{};
  std::string_view custom_error_message;
  std::uint32_t depth = 0;
};

// What glaze writes into: the room that is given, then the end of a string. It counts as one that
// can grow because glaze looks at every byte only in those: a fixed one it leaves by what it puts
// behind nested values.
class output {
 public:
  using value_type = char;
  using reference = char&;
  using const_reference = const char&;

  output(std::span<char> room, std::string& beyond) noexcept
      : begin_(room.data()), size_(room.size()), beyond_(beyond), kept_(beyond.size()) {}

  [[nodiscard]] char* data() noexcept { return begin_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] char& operator[](std::size_t index) noexcept { return begin_[index]; }
  [[nodiscard]] const char& operator[](std::size_t index) const noexcept { return begin_[index]; }

  // All bytes up to here may be in use: the writer says only how many it wants. It gets at once
  // what there is room for, and nothing is cleared that it writes over. Rare, and where it is
  // inlined, GCC warns of those that are not.
  [[gnu::noinline]] void resize(std::size_t size) {
    size = std::max(size, beyond_.capacity() - kept_);
    beyond_.resize_and_overwrite(kept_ + size, [&](char* memory, std::size_t all) noexcept {
      if (!is_beyond_) std::copy_n(begin_, size_, memory + kept_);
      return all;
    });
    is_beyond_ = true;
    begin_ = beyond_.data() + kept_;
    size_ = size;
  }

  // Ends the text; where it is.
  [[nodiscard]] std::string_view cut(std::size_t size) {
    if (is_beyond_) beyond_.resize(kept_ + size);
    return {begin_, size};
  }

 private:
  char* begin_;
  std::size_t size_;
  std::string& beyond_;
  std::size_t kept_;
  bool is_beyond_ = false;
};

}  // namespace detail

// Writes into `room`, or to the end of `beyond` where that is too short: a room 256 bytes larger
// than the text usually is not. Returns the text, which lies in one of them.
template <class T>
[[nodiscard]] std::string_view write_into(const T& value, std::span<char> room,
                                          std::string& beyond) {
  detail::write_context context;
  detail::output out{room, beyond};
  std::size_t size = 0;
  glz::to<glz::JSON, T>::template op<detail::write_options{}>(value, context, out, size);
  WEFT_ASSERT(context.error == glz::error_code::none,
              "json::write: a std::variant is valueless, or its alternatives cannot be told apart");
  return out.cut(size);
}

// Adds to the end of `out`, which keeps what it held. Short texts are made on the stack and copied,
// which is cheaper than preparing the string's memory.
template <class T>
void append(const T& value, std::string& out) {
  char room[1024];
  const std::string_view text = write_into(value, room, out);
  if (text.data() == room) out.append(text);
}

// Replaces what `out` held.
template <class T>
void write(const T& value, std::string& out) {
  out.clear();
  append(value, out);
}

}  // namespace weft::json

#include <weft/http/websocket/utf8_checker.hpp>

#include <cstring>

#include <weft/base/utf8.hpp>

namespace weft::http::ws {
namespace {

/// Bytes of ASCII at the front, in steps of 16.
std::size_t skip_ascii(std::string_view text) noexcept {
  constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;
  std::size_t at = 0;
  for (std::uint64_t words[2]; text.size() - at >= sizeof words; at += sizeof words) {
    std::memcpy(words, text.data() + at, sizeof words);
    if (((words[0] | words[1]) & high_bits) != 0) break;
  }
  return at;
}

/// Whether `text`, which is less than a character, may be how one begins: some end makes it one.
bool may_begin_character(std::string_view text) noexcept {
  std::array<char, 4> tried{};
  std::memcpy(tried.data(), text.data(), text.size());
  // The second byte is the only one whose range depends on the first (RFC 3629 section 4): where
  // that has not come, one of these three fits any first byte that there is.
  for (const char second : {'\x80', '\x90', '\xa0'}) {
    if (text.size() < 2) tried[1] = second;
    for (std::size_t i = text.size() < 2 ? 2 : text.size(); i < tried.size(); ++i)
      tried[i] = '\x80';
    if (utf8_size({tried.data(), tried.size()}) > text.size()) return true;
  }
  return false;
}

}  // namespace

bool utf8_checker::feed(std::string_view bytes) noexcept {
  if (failed_ || !finish_character(bytes)) return !failed_;
  while (!bytes.empty()) {
    bytes.remove_prefix(skip_ascii(bytes));
    // What is no ASCII comes in runs.
    for (int i = 0; i != 16 && !bytes.empty(); ++i) {
      const std::size_t size = utf8_size(bytes);
      if (size != 0) {
        bytes.remove_prefix(size);
        continue;
      }
      if (bytes.size() > 3 || !may_begin_character(bytes)) {
        failed_ = true;
        return false;
      }
      std::memcpy(begun_.data(), bytes.data(), bytes.size());
      begun_bytes_ = static_cast<std::uint8_t>(bytes.size());
      return true;
    }
  }
  return true;
}

/// Of what came before. False: it is unfinished still, or wrong.
bool utf8_checker::finish_character(std::string_view& bytes) noexcept {
  while (begun_bytes_ != 0) {
    if (bytes.empty()) return false;
    begun_[begun_bytes_++] = bytes.front();
    bytes.remove_prefix(1);
    const std::string_view so_far{begun_.data(), begun_bytes_};
    if (utf8_size(so_far) == so_far.size()) {
      begun_bytes_ = 0;
    } else if (begun_bytes_ == begun_.size() || !may_begin_character(so_far)) {
      failed_ = true;
      return false;
    }
  }
  return true;
}

}  // namespace weft::http::ws

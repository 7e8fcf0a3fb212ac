// A form's text: decoded apart or in place it says the same, keeps to the limit, and is the same
// form when it is encoded again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/http/form.hpp>

namespace {

void append_encoded(std::string_view text, std::string& out) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
}

// All pairs, encoded anew, and how it ended.
std::string read_all(std::string_view encoded, std::string& room, std::size_t pairs_max) {
  weft::http::form_reader form{encoded, room, pairs_max};
  std::string text;
  std::size_t pairs = 0;
  for (auto pair = form.next();; pair = form.next()) {
    if (!pair) return text + "!";
    if (!*pair) return text;
    if (++pairs > pairs_max) std::abort();
    append_encoded((*pair)->name, text);
    text += '=';
    append_encoded((*pair)->value, text);
    text += '&';
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t pairs_max = data[0];
  const std::string_view encoded{reinterpret_cast<const char*>(data) + 1, size - 1};
  std::string apart(encoded.size(), '\0');
  std::string in_place{encoded};
  std::string text = read_all(encoded, apart, pairs_max);
  if (read_all(in_place, in_place, pairs_max) != text) std::abort();
  if (text.ends_with('!')) return 0;
  std::string again{text};
  if (read_all(again, again, pairs_max) != text) std::abort();
  return 0;
}

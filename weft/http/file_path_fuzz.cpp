// A path from outside: what comes of it has no way up, and is the same whether escapes are written
// or not.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/http/file_path.hpp>
#include <weft/http/file_types.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft::http;
  if (size == 0) return 0;
  const file_path_options options{.hidden_files = data[0] % 2 != 0};
  const std::string_view path{reinterpret_cast<const char*>(data) + 1, size - 1};
  std::string room;
  const auto made = relative_file_path(path, options, room);
  if (!made || *made == ".") return 0;
  const std::string slashed = "/" + std::string{*made} + "/";
  for (std::string_view bad : {"/../", "/./", "//", "\\"})
    if (slashed.contains(bad)) std::abort();
  if (slashed.contains('\0')) std::abort();
  if (!options.hidden_files && slashed.find("/.", 1) != slashed.npos) std::abort();

  std::string escaped = "/";
  for (const char c : *made) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/')
      escaped += c;
    else
      (escaped += '%', escaped += digits[byte >> 4], escaped += digits[byte & 15]);
  }
  std::string other;
  if (relative_file_path(escaped, options, other) != made) std::abort();
  (void)media_type_of_file(*made);
  return 0;
}

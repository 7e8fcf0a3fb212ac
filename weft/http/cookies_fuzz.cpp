// A Cookie field's value: what is read lies inside of it, is what the grammar allows, and is taken
// as a cookie that we would set.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/http/cookies.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view field{reinterpret_cast<const char*>(data), size};
  std::string written;
  for (const weft::http::cookie each : weft::http::cookies{field}) {
    if (each.name.data() < field.data() || each.value.data() + each.value.size() > field.end())
      std::abort();
    const weft::http::set_cookie same{
        .name = each.name, .value = each.value, .path = "/", .secure = true};
    if (each.name.size() + each.value.size() > 4096) continue;
    if (!weft::http::write_set_cookie(same, written)) std::abort();
    const auto again = *weft::http::cookies{written}.begin();
    if (again.name != each.name || again.value != each.value) std::abort();
  }
  return 0;
}

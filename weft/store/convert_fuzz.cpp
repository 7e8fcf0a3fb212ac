// Any scalar for any column: what is taken is told as JSON, and what was told is taken again, as
// the same value.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/store/convert.hpp>
#include <weft/store/json_value.hpp>

namespace {

using namespace weft::store;

/// The scalar that `json` is; its text without escapes is the engine's.
json_scalar again(std::string_view json) {
  if (json.starts_with('"')) return {json_kind::string, json.substr(1, json.size() - 2)};
  return {json == "null" ? json_kind::null : json_kind::number, json};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const column of{.name = "x",
                  .type = static_cast<column_type>(data[0] % 20),
                  .is_unsigned = (data[1] & 1) != 0,
                  .length = 1 + data[2] % 64U,
                  .precision = static_cast<std::uint8_t>(data[2] % 66),
                  .scale = static_cast<std::uint8_t>(data[3] % (data[2] % 66 + 1)),
                  .fraction_digits = static_cast<std::uint8_t>(data[3] % 7)};
  const json_scalar given{static_cast<json_kind>(data[1] / 2 % 4),
                          {reinterpret_cast<const char*>(data) + 4, size - 4}};
  const purpose why = (data[1] & 64) != 0 ? purpose::key : purpose::content;
  scratch room;
  const auto made = to_value(given, of, why, room);
  std::string out;
  if (!made) {
    append_message(made.error(), of, out);
    if (out.empty()) std::abort();
    return 0;
  }
  append_json(*made, of, out);
  if (is_text(of.type)) return 0;  // may be escaped, or mended
  const auto same = to_value(again(out), of, why, room);
  if (!same || !(*same == *made)) std::abort();
  return 0;
}

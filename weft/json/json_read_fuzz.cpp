// Two readers of one grammar: whatever json::read takes, the walker must call JSON, and what was
// read must survive being written and read again. Whatever is refused must be explained within the
// text.
#include <weft/json/read.hpp>
#include <weft/json/walker.hpp>
#include <weft/json/write.hpp>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace {

struct part {
  std::string s;
  std::optional<std::int8_t> o;
  friend bool operator==(const part&, const part&) = default;
};
struct document {
  std::int64_t i;
  std::uint32_t u;
  double d;
  bool b;
  std::vector<part> p;
  std::map<std::string, float> m;
  std::optional<std::variant<bool, std::string, std::vector<std::int64_t>>> v;
  friend bool operator==(const document&, const document&) = default;
};

void require(bool condition) {
  if (!condition) std::abort();
}

template <class T, weft::json::policy Policy>
void try_reading(std::string_view text) {
  const auto first = weft::json::read<T, Policy>(text);
  const bool is_json = weft::json::detail::walker{text}.to_end();
  if (!first) {
    require(first.error().offset <= text.size());
    require(!(first.error().is_not_json() && is_json));
    require(first.error().is_not_json() ||
            weft::json::detail::walker{text}.past(first.error().offset));
    require(!first.error().message().empty());
    return;
  }
  require(is_json);
  std::string written;
  weft::json::write(*first, written);
  const auto second = weft::json::read<T, Policy>(written);
  require(second && *second == *first);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::json::policy;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try_reading<document, policy{}>(text);
  try_reading<document, policy{.ignore_unknown_names = true, .allow_missing_names = true}>(text);
  try_reading<std::vector<part>, policy{}>(text);
  try_reading<std::string, policy{}>(text);
  try_reading<double, policy{}>(text);
  return 0;
}

// Any bytes as an options file, as a variable and as an argument: options are read or faults told,
// and what is printed reads back.
#include <weft/service/config.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fuzzed {

enum class mode : std::uint8_t { slow, fast };

struct inner {
  std::size_t bytes = 1;
  std::optional<double> rate{};
};
struct options {
  std::string text = "a";
  std::int8_t small = 0;
  mode how = mode::slow;
  weft::duration time = std::chrono::seconds{1};
  std::vector<std::int64_t> numbers{};
  std::vector<inner> inners{};
  inner nested{};
};

}  // namespace fuzzed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  {
    weft::config given;
    fuzzed::options options;
    given.bind("s", options);
    if (given.read_text(text, "f") && given.apply().empty()) {
      weft::config again;
      fuzzed::options same;
      again.bind("s", same);
      if (!again.read_text(given.to_toml(), "g") || !again.apply().empty()) std::abort();
      if (same.text != options.text || same.time != options.time || same.how != options.how ||
          same.numbers != options.numbers || same.inners.size() != options.inners.size())
        std::abort();
    }
  }
  for (const char* const name : {"text", "small", "how", "time", "numbers", "nested.rate"}) {
    weft::config given;
    fuzzed::options options;
    given.bind("s", options);
    static_cast<void>(given.assign(std::string{"s."} + name + "=" + text));
    static_cast<void>(given.assign(text));
    static_cast<void>(given.apply());
  }
  return 0;
}

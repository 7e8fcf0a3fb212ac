#include <weft/loop/shuffle.hpp>

#include <charconv>
#include <cstdlib>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>

namespace weft {
namespace {

std::uint64_t seed_of_environment() {
  const char* const text = std::getenv("WEFT_SHUFFLE");
  if (text == nullptr) return 0;
  const auto seed = parse_shuffle_seed(text);
  if (!seed)
    log::warning(
        weft::format("WEFT_SHUFFLE is '{}', which is no whole number, and is ignored: 17 is a "
                     "seed, 0 runs ready tasks first in, first out",
                     text));
  else if (*seed != 0)
    log::info(weft::format("ready tasks run in an order of chance: WEFT_SHUFFLE={}", *seed));
  return seed.value_or(0);
}

}  // namespace

std::uint64_t default_shuffle_seed() {
  static const std::uint64_t told = seed_of_environment();
  return told;
}

std::optional<std::uint64_t> parse_shuffle_seed(std::string_view text) noexcept {
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, seed, is_hexadecimal ? 16 : 10);
  if (code != std::errc{} || stopped != end) return std::nullopt;
  return seed;
}

}  // namespace weft

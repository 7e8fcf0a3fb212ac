#include <weft/loop/shuffle.hpp>

#include <charconv>
#include <cstdlib>
#include <random>
#include <string>

#include <weft/base/failure_note.hpp>
#include <weft/base/format.hpp>
#include <weft/base/log.hpp>

namespace weft {
namespace {

#ifdef NDEBUG
constexpr bool draws_unasked = false;
#else
constexpr bool draws_unasked = true;
#endif

/// Short enough to be typed again.
std::uint64_t drawn_seed() { return 1 + std::random_device{}() % 1'000'000; }

std::uint64_t seed_of_environment() {
  const char* const text = std::getenv("WEFT_SHUFFLE");
  if (text == nullptr) return draws_unasked ? drawn_seed() : 0;
  const auto seed = parse_shuffle_seed(text);
  if (!seed)
    log::warning(
        weft::format("WEFT_SHUFFLE is '{}', which is no whole number, and is ignored: 17 is a "
                     "seed, 0 runs ready tasks first in, first out",
                     text));
  return seed.value_or(0);
}

/// The seed of this process, once it has been told of.
std::uint64_t announced_seed() {
  const std::uint64_t seed = seed_of_environment();
  if (seed == 0) return 0;
  // Never destroyed: what fails while static objects are tells it, too.
  static const std::string& note = *new std::string{weft::format(
      "ready tasks run in an order of chance: see it again with WEFT_SHUFFLE={}, or first in, "
      "first out with WEFT_SHUFFLE=0",
      seed)};
  set_failure_note(note.c_str());
  log::info(note);
  return seed;
}

}  // namespace

std::uint64_t default_shuffle_seed() {
  static const std::uint64_t seed = announced_seed();
  return seed;
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

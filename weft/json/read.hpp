// From JSON text to a plain struct.
//
// Problem: hand-written parsing of request bodies is where services get their holes, and generic
// document trees cost ten times what the data does. Contract: T is an aggregate of numbers, bool,
// std::string, std::optional, std::vector, std::array, std::map, std::tuple, std::variant, enums
// and other such aggregates, at namespace scope (not inside of a function); names come from the
// members, nothing is registered. Reading is RFC 8259 to the letter:
//   - one value, white space around it, nothing after it; UTF-8 only, no byte order mark, no
//     comments, no leading zeros, no NaN; the text need not end with NUL, and a NUL in it is an
//     error;
//   - an unknown name and a missing one are errors (std::optional members may be missing or null);
//     json::policy says otherwise for one call. A name given twice in one object, or in a map, is
//     an error, however it is spelled (the RFC leaves open which value counts);
//   - a number that its member cannot hold is an error, never wrapped or rounded to infinity. 1e2
//     is an integer, 1.0 is not;
//   - where T has `bounds()` (weft/base/bounds.hpp), a number outside of them is an error;
//   - an enum is the name of its enumerator, also as the key of a map. Names are known of values
//     from -128 to 639, or in weft::enum_range (weft/base/enumerators.hpp): an enum without names
//     there, or with one outside that can be seen, does not compile. The number of an enumerator is
//     read as well, with a warning, until 0.3, but not as a key. An enum with
//     weft::enum_is_number is an integer;
//   - a std::variant is the first alternative that fits. The number of an enumerator counts last;
//   - names must be spelled without escapes ("\u0061" is not "a"): with escapes they are unknown
//     names;
//   - a std::array accepts fewer elements than it has, never more; a std::tuple has all of them;
//     json::bounded_vector says in its type how many it takes; whatever their types allow, the
//     elements of all lists and maps together take no more memory than json::policy grants a text
//     of that size: "{}," is three bytes, and a struct may have hundreds;
//   - at most json::max_depth objects and arrays inside each other.
// Allocates only what T itself allocates. Safe on any thread. Based on glaze. (Not counted: lists
// of the user's own that are no instances of a template, and std::forward_list.)
//
//   struct ping { std::int64_t sequence; };
//   std::expected<ping, json::error> p = json::read<ping>(R"({"sequence": 2})");
//   if (!p) log::warning(p.error().message());
#pragma once

#include <weft/base/assert.hpp>
#include <weft/json/diagnose.hpp>
#include <weft/json/error.hpp>
#include <weft/json/member_names.hpp>
#include <weft/json/named_enum.hpp>
#include <weft/json/named_variant.hpp>
#include <weft/json/plain_string.hpp>
#include <weft/json/read_context.hpp>
#include <weft/json/read_list.hpp>
#include <weft/json/read_tuple.hpp>
#include <weft/json/reflection.hpp>
#include <weft/json/scratch_copy.hpp>
#include <weft/json/white_space.hpp>

#include <glaze/json/read.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <string_view>

namespace weft::json {

// Named leniency: `json::read<T, json::policy{.ignore_unknown_names = true}>(text)`.
struct policy {
  // Members the type does not have are skipped. They must be JSON all the same, which costs a
  // second look at the text.
  bool ignore_unknown_names = false;
  // Members that are not given keep the value they had.
  bool allow_missing_names = false;
  // What the elements of a document's lists and maps may take, all together: so many bytes for each
  // byte of the text, and so many whatever its size (errc::too_large beyond). A list that grows
  // takes up to three times its elements while it does.
  std::size_t memory_per_byte = 16;
  std::size_t least_memory_bytes = 256 * 1024;
};

namespace detail {

template <policy Policy>
struct read_options : glz::opts {
  bool validate_trailing_whitespace = true;
  bool error_on_const_read = true;
  bool takes_plain_strings = true;

  constexpr read_options()
      : glz::opts{.null_terminated = true,
                  .error_on_unknown_keys = !Policy.ignore_unknown_names,
                  .error_on_missing_keys = !Policy.allow_missing_names} {}
};

/// Reads `text`, which is followed by a NUL; `original` is what it was copied from, if its strings
/// are decoded in place.
template <policy Policy, class T>
std::expected<void, error> parse(T& value, std::string_view text, std::string_view original) {
  if constexpr (Policy.ignore_unknown_names) {
    if (const std::optional<error> not_json = check(original)) return std::unexpected(*not_json);
  }
  read_context context;
  context.memory_left = text.size() * Policy.memory_per_byte + Policy.least_memory_bytes;
  const glz::error_ctx end = glz::read<read_options<Policy>{}>(value, text, context);
  if (!end) [[likely]]
    return {};
  return std::unexpected(diagnose(original, {.code = static_cast<std::uint32_t>(end.ec),
                                             .offset = end.count,
                                             .name = end.custom_error_message,
                                             .most = context.most_elements,
                                             .bound = context.bound}));
}

}  // namespace detail

// As read_into, for a text whose data()[size()] is readable and NUL, which saves copying it.
template <policy Policy = {}, class T>
[[nodiscard]] std::expected<void, error> read_terminated_into(T& value, std::string_view text) {
  static_assert(
      !detail::holds_view<T>(),
      "json::read cannot fill a std::string_view: it would dangle, and see escapes undecoded; "
      "make the member a std::string");
  WEFT_DEBUG_ASSERT(text.data()[text.size()] == '\0', "the text must be followed by a NUL byte");
  return detail::parse<Policy>(value, text, text);
}

// Reads into an object that is there already, reusing the memory of its strings and vectors. After
// an error its members hold any mixture of old and new values.
template <policy Policy = {}, class T>
[[nodiscard]] std::expected<void, error> read_into(T& value, std::string_view text) {
  constexpr std::size_t short_size_bytes = 512;
  if (text.size() < short_size_bytes) [[likely]] {
    char copy[short_size_bytes];
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return read_terminated_into<Policy>(value, std::string_view{copy, text.size()});
  }
  const detail::scratch_copy copy{text};
  return read_terminated_into<Policy>(value, copy.view());
}

// Reads a new, value-initialised T. The error owns all it says.
template <class T, policy Policy = {}>
[[nodiscard]] std::expected<T, error> read(std::string_view text) {
  std::expected<T, error> result;
  if (std::expected<void, error> done = read_into<Policy>(*result, text); !done) [[unlikely]] {
    result = std::unexpected(done.error());
  }
  return result;
}

}  // namespace weft::json

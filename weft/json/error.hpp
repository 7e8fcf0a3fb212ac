// Why a text could not be read as the wanted type, and where.
//
// Problem: "bad request" helps nobody; the sender of a document needs the place and the reason,
// without the reader paying for it while documents are good. Contract: an error owns all it says
// (no reference to the text), never allocates before message(), and is made on the failing path
// only, by a second look at the text (time linear in its size).
//
//   auto order = json::read<new_order>(body);
//   // "/items/2/price: expected a number (byte 41)"
//   if (!order) reply(400, order.error().message());
#pragma once

#include <weft/base/bounds.hpp>
#include <weft/json/pointer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::json {

// What callers tell apart. The first group means that the text is not JSON (RFC 8259) at all.
enum class errc : std::uint8_t {
  syntax = 1,         // a byte that the grammar does not allow there
  truncated,          // JSON that ends too early; an empty text too
  trailing_content,   // a whole value, and then something else than white space
  invalid_utf8,       // a string that is not UTF-8 (RFC 8259 section 8.1)
  too_deep,           // objects and arrays nested deeper than max_depth
  wrong_type = 16,    // a string for a number, null for what is not optional, ...
  out_of_range,       // a number that the member cannot hold, or outside of its bounds()
  unknown_key,        // an object with a name the type has no member for
  missing_key,        // an object without a member that is not optional
  too_many_elements,  // an array longer than its type allows
  invalid_value,      // no such enumerator, no fitting alternative, or a rule of the type is broken
  duplicate_key,      // a name that the object, or the map, has already
  too_large,          // lists and maps that need more memory than the policy grants
};

// Objects and arrays inside each other, counted together.
inline constexpr std::size_t max_depth = 256;

// The enumerator's own name, such as "unknown_key" ("unknown" for a value outside the list). Static
// storage.
[[nodiscard]] std::string_view to_string(errc code) noexcept;

struct error {
  errc code = errc::syntax;
  // Bytes before the offending token; in what is not JSON, before the offending byte.
  std::size_t offset = 0;
  // The value, or the unknown or missing member; "" is the document itself.
  pointer path;
  // One clause for people, in static storage: "expected a number".
  std::string_view what;
  // How many elements a list takes that is given more, if that is known; else 0.
  std::size_t most = 0;
  // Of a number outside of it; else nullptr. In static storage.
  const member_bound* bound = nullptr;

  // One line for people: "/items/2/price: expected a number (byte 41)". Its text is not part of the
  // contract.
  [[nodiscard]] std::string message() const;

  // False: what precedes the fault may begin a JSON text. What follows is not looked at.
  [[nodiscard]] bool is_not_json() const noexcept { return code < errc::wrong_type; }
};

}  // namespace weft::json

// Each member of an object once, and by its own name.
//
// Problem: of a name given twice RFC 8259 leaves open which value counts, so that a gate and the
// service behind it may each see another document. glaze takes the last. Contract: inside of
// weft/json. glaze calls parse_and_invoke() and decode_field_value() of whatever namespace its
// context is of: readers that use read_context come by here, note which members an object has had,
// and refuse the second (glz::error_code::name_mismatch, at the name). What skips unknown names
// would take "\u0061" for one though there is an "a": that is refused as well
// (glz::error_code::unknown_key). A number outside of the bounds() of its object is refused once it
// has been read (glz::error_code::constraint_violated). Nothing is allocated; a member costs some
// six instructions.
#pragma once

#include <weft/base/bounds.hpp>
#include <weft/json/read_context.hpp>

#include <glaze/json/read.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weft::json::detail {

/// Whether the name that begins at `name`, in a document that ends with NUL, is spelled with
/// escapes and means one of `known`.
[[nodiscard, gnu::cold]] bool is_hidden_name(const char* name,
                                             std::span<const std::string_view> known) noexcept;

/// Whether the name at `name`, behind its quote, is the first of its object.
inline bool is_first_name(const char* name) noexcept {
  const char* before = name - 2;
  while (*before == ' ' || *before == '\n' || *before == '\r' || *before == '\t') --before;
  return *before == '{';
}

/// Notes member `I` of the object that is open. False: it has been there.
template <std::size_t I>
[[gnu::always_inline]] inline bool note_member(read_context& context) noexcept {
  static_assert(I < read_context::most_members, "json::read knows objects of 128 members at most");
  constexpr std::uint64_t bit = std::uint64_t{1} << (I % 64);
  read_context::member_set& seen = context.members[context.depth];
  if (is_first_name(context.name)) {
    seen.bits = {};
  } else if ((seen.bits[I / 64] & bit) != 0) [[unlikely]] {
    return false;
  }
  seen.bits[I / 64] |= bit;
  return true;
}

/// What a pointer owns beside itself.
template <class T>
inline constexpr std::size_t owned_bytes = 0;
template <class T, class Delete>
inline constexpr std::size_t owned_bytes<std::unique_ptr<T, Delete>> = sizeof(T);
template <class T>
inline constexpr std::size_t owned_bytes<std::shared_ptr<T>> = sizeof(T);

/// What weft::bounds() may be of and JSON can hold.
template <class T>
inline constexpr bool boundable = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool boundable<std::optional<T>> = boundable<T>;
template <class T, class Allocator>
inline constexpr bool boundable<std::vector<T, Allocator>> = boundable<T>;

template <class T>
bool is_allowed(const member_bound& bound, const T& value) noexcept {
  if constexpr (std::is_arithmetic_v<T>) {
    return bound.allows(value);
  } else {
    for (const auto& each : value)
      if (!bound.allows(each)) return false;
    return true;
  }
}
template <class T>
bool is_allowed(const member_bound& bound, const std::optional<T>& value) noexcept {
  return !value || bound.allows(*value);
}

/// `member` of `owner` has been read, up to `at`.
template <class T, class Member>
void check_bound(const T& owner, const Member& member, read_context& context,
                 const char*& at) noexcept {
  const member_bound* const bound =
      weft::detail::find_bound(weft::detail::bounds_of<T>, &owner, &member);
  if (bound == nullptr || is_allowed(*bound, member)) [[likely]]
    return;
  context.error = glz::error_code::constraint_violated;
  context.bound = bound;
  --at;  // within the value
}

// If glaze called them otherwise, nobody would find those below.
// NOLINTBEGIN(misc-unused-using-decls)
using glz::decode_field_value;
using glz::parse_and_invoke;
// NOLINTEND(misc-unused-using-decls)

// glaze gives lvalues, and uses them again.
// NOLINTBEGIN(cppcoreguidelines-missing-std-forward)
template <auto Options, class T, class Value, class... Index>
[[gnu::always_inline]] inline constexpr void parse_and_invoke(Value&& value, read_context& context,
                                                              const char*& at, const char*& end,
                                                              Index&&... index) {
  context.name = at;
  if constexpr (!Options.error_on_unknown_keys) {
    // The first name may be one that is passed over, and begins the object's set all the same.
    if (is_first_name(at)) context.members[context.depth].bits = {};
    if (is_hidden_name(at, glz::reflect<T>::keys)) {
      context.error = glz::error_code::unknown_key;
      return;
    }
  }
  glz::parse_and_invoke<Options, T>(value, context, at, end, index...);
}

template <auto Options, auto FieldOptions, class T, std::size_t I, class Value, class... Index>
[[gnu::always_inline]] inline void decode_field_value(Value&& value, read_context& context,
                                                      const char*& at, const char*& end,
                                                      Index&&... index) {
  if (!note_member<I>(context)) [[unlikely]] {
    context.error = glz::error_code::name_mismatch;
    at = context.name;
    return;
  }
  if constexpr (constexpr std::size_t owned = owned_bytes<std::remove_cvref_t<glz::refl_t<T, I>>>;
                owned != 0)
    if (!context.charge(owned)) return;
  glz::decode_field_value<Options, FieldOptions, T, I>(value, context, at, end, index...);
  if constexpr (weft::detail::has_bounds<T>) {
    using member = std::remove_cvref_t<glz::refl_t<T, I>>;
    if constexpr (boundable<member>)
      if (!static_cast<bool>(context.error))
        check_bound<T>(value, glz::get<I>(glz::to_tie(value)), context, at);
  }
}
// NOLINTEND(cppcoreguidelines-missing-std-forward)

}  // namespace weft::json::detail

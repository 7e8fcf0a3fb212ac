// Entity tags: which version of a representation (RFC 9110 section 8.8.3).
//
// Contract: [ "W/" ] DQUOTE *etagc DQUOTE. Compared weakly, the opaque texts decide; strongly, a
// weak one equals nothing (section 8.8.3.2). Views of the text that was parsed.
//
//   auto tag = http::parse_entity_tag(R"(W/"17")");   // {"17", weak}
#pragma once

#include <optional>
#include <string_view>

namespace weft::http {

struct entity_tag {
  std::string_view opaque;  // between the quotes
  bool weak = false;
};

[[nodiscard]] std::optional<entity_tag> parse_entity_tag(std::string_view text) noexcept;

[[nodiscard]] constexpr bool equal_weakly(entity_tag one, entity_tag other) noexcept {
  return one.opaque == other.opaque;
}
[[nodiscard]] constexpr bool equal_strongly(entity_tag one, entity_tag other) noexcept {
  return !one.weak && !other.weak && one.opaque == other.opaque;
}

// Takes the next of a list of tags off its front: true, and an empty `found` at the end. False
// where the list is malformed: nothing may be believed of it. A comma may stand inside of a tag.
[[nodiscard]] bool take_entity_tag(std::string_view& list,
                                   std::optional<entity_tag>& found) noexcept;

}  // namespace weft::http

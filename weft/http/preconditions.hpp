// Whether a request still applies: If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since
// and If-Range (RFC 9110 section 13).
//
// Problem: six fields, and the order they are asked in decides whether a client loses an update.
// Contract: check_preconditions() answers in the order of section 13.2.2. Ask it where the reply
// would be 2xx without it, after access was checked and before anything is changed
// (section 13.2.1). A malformed If-Match or If-None-Match, and a second If-Unmodified-Since, fail
// on the safe side: the first with 412, the second as if nothing matched. A date that is none is
// ignored, as sections 13.1.3 and 13.1.4 say. Nothing is allocated.
//
//   const http::representation now{.tag = entity_tag{"17"}, .modified = file_time};
//   switch (http::check_preconditions(r.method(), r.headers(), now, wall_seconds)) ...
#pragma once

#include <cstdint>
#include <optional>

#include <weft/http/entity_tag.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/method.hpp>

namespace weft::http {

// What there is at the moment.
struct representation {
  std::optional<entity_tag> tag = std::nullopt;
  std::optional<std::int64_t> modified = std::nullopt;  // seconds since 1970-01-01 00:00:00 UTC
  bool exists = true;                                   // for "If-None-Match: *"
};

enum class precondition : std::uint8_t {
  met,           // go on
  not_modified,  // 304, with the tag and no content
  failed,        // 412
};

// `now` is in seconds since 1970-01-01 00:00:00 UTC.
[[nodiscard]] precondition check_preconditions(method asked, const header_list& headers,
                                               const representation& current,
                                               std::int64_t now) noexcept;

// Whether Range counts: no If-Range, or one that is exactly the representation's strong tag or its
// date (RFC 9110 section 13.1.5). A date is only believed where it is at least a second old, so
// that two versions cannot share it (section 8.8.2.2).
[[nodiscard]] bool if_range_holds(const header_list& headers, const representation& current,
                                  std::int64_t now) noexcept;

}  // namespace weft::http

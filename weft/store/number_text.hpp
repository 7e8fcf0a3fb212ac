// Texts that are numbers.
//
// Contract: pure functions. looks_like_number() says what a column of SQLite's with NUMERIC
// affinity makes a number of (sqlite.org/datatype3.html, section 3): blanks may stand around it.
//
//   if (looks_like_number(" 1e5")) ...
//   if (const auto id = plain_integer("17")) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::store {

[[nodiscard]] bool looks_like_number(std::string_view text) noexcept;

/// All of `text`, as it is written most shortly.
[[nodiscard]] std::optional<std::int64_t> plain_integer(std::string_view text) noexcept;

/// RFC 8259 section 6.
[[nodiscard]] bool is_json_number(std::string_view text) noexcept;

}  // namespace weft::store

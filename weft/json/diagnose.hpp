// From "the reader stopped here" to an error that a person can act on. Inside of weft/json, for the
// failing path only: out of line, so that glaze's own formatting of errors is compiled into no
// user's file.
#pragma once

#include <weft/json/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::json::detail {

// What the reader reports: glaze's error code, how far it got, and a name where it has one to tell.
struct reader_report {
  std::uint32_t code = 0;
  std::size_t offset = 0;
  std::string_view name;
  std::size_t most = 0;  // of the elements that a list takes
  const member_bound* bound = nullptr;
};

// Names the first fault of `text`. What follows the place that the reader came to is not looked at,
// so that megabytes behind a fault cost nothing.
[[nodiscard, gnu::cold]] error diagnose(std::string_view text, reader_report report) noexcept;

// Whether all of `text` is one JSON value, down to what a reader may skip.
[[nodiscard]] std::optional<error> check(std::string_view text) noexcept;

}  // namespace weft::json::detail

// Days and times in their one canonical form: what DATE, TIME, DATETIME and TIMESTAMP columns hold.
//
// Contract: "2024-02-29", "-12:00:01.5", "2024-02-29 12:00:01.500", with exactly the column's
// fraction digits: more are cut, fewer filled up. A DATETIME may have a T for its blank, or no time
// (which is midnight); a time may have no seconds. Days exist in the calendar, years are 0000 to
// 9999; a TIME lies between -838:59:59 and 838:59:59; a TIMESTAMP is UTC, between 1970-01-01
// 00:00:01 and 2038-01-19 03:14:07 (MySQL 8.0 Reference Manual, 11.2). There are no time zones.
//
//   temporal_text room;
//   const auto text = canonical_time(column_type::date_time, 3, "2024-02-29T12:00", room);
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include <weft/store/column_type.hpp>

namespace weft::store {

/// "2024-02-29 12:00:01.123456", and the longest TIME.
using temporal_text = std::array<char, 32>;

/// A view of `room`; none: no such day or time, or one out of the type's range.
[[nodiscard]] std::optional<std::string_view> canonical_time(column_type type,
                                                             unsigned fraction_digits,
                                                             std::string_view text,
                                                             temporal_text& room) noexcept;

/// Of a DATETIME or TIMESTAMP: day, hour, minute and second with all their digits, perhaps a
/// fraction of a second of up to nine, and perhaps a time zone ("Z", "+02:00", " +0200"). Of a
/// TIME: hour, minute, second, and perhaps a fraction. That is how programs write into SQLite.
[[nodiscard]] bool is_written_in_full(column_type type, std::string_view text) noexcept;

}  // namespace weft::store

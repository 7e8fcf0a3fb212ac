// What a column holds, as SQL says it.
//
// Contract: the types of MySQL, which is what clients of the data API know; an engine says its own
// in these terms. A type alone is not all of a column: see column in <weft/store/table.hpp>.
//
//   if (is_integer(id.type)) ...
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::store {

enum class column_type : std::uint8_t {
  tiny_int,
  small_int,
  medium_int,
  integer,
  big_int,
  float32,
  float64,
  decimal,
  character,
  varchar,
  text,
  binary,
  varbinary,
  blob,
  bit,
  date,
  time,
  date_time,
  timestamp,
  year,
  any,  // of no type: each value has its own
};

/// As SQL spells it: "TINYINT", "VARCHAR". Static storage.
[[nodiscard]] std::string_view to_string(column_type type) noexcept;

/// Of one to eight bytes, signed or not; YEAR and BIT have rules of their own.
[[nodiscard]] constexpr bool is_integer(column_type type) noexcept {
  return type <= column_type::big_int;
}

/// Bytes of an integer.
[[nodiscard]] constexpr unsigned width_bytes(column_type type) noexcept {
  constexpr unsigned widths[] = {1, 2, 3, 4, 8};
  return widths[static_cast<unsigned>(type)];
}

/// Whether its values are characters.
[[nodiscard]] constexpr bool is_text(column_type type) noexcept {
  return type >= column_type::character && type <= column_type::text;
}

/// Whether its values are bytes, which JSON has in Base64.
[[nodiscard]] constexpr bool is_bytes(column_type type) noexcept {
  return type >= column_type::binary && type <= column_type::blob;
}

/// Whether its values are a day, a time or both.
[[nodiscard]] constexpr bool is_temporal(column_type type) noexcept {
  return type >= column_type::date && type <= column_type::timestamp;
}

}  // namespace weft::store

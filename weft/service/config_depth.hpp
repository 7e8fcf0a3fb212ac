// How deep the names and values of an option nest. Internal to config.
//
// Problem: what makes a tree of a text, walks through it and frees it does so by recursion, be it
// ours or toml++'s: 18,125 dots in a name, 36 kB, end the stack. Contract: one bound for all,
// wherever an option comes from. Of a TOML text the depth is told from its characters alone, before
// anybody makes a tree of it: strings and comments are passed over as TOML has them, and what is no
// TOML may be counted too high, never too low.
//
//   if (const auto where = find_too_deep(text)) refuse(where->line, where->column);
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace weft::detail {

/// Of the parts of a name between its dots, and of lists and tables within each other.
inline constexpr std::size_t config_depth_max = 32;

[[nodiscard]] bool is_too_deep(std::string_view path) noexcept;

struct text_place {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// The first dot or bracket beyond the bound; nothing: there is none.
[[nodiscard]] std::optional<text_place> find_too_deep(std::string_view toml) noexcept;

}  // namespace weft::detail

// A TOML file as config values, each with its line and column. Internal to config.
//
//   auto tree = parse_toml("[http.server]\nlisten = \":80\"\n", "weftd.toml");
//   tree->members[0].where;  // "weftd.toml:1:2"
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <weft/service/config_value.hpp>

namespace weft::detail {

/// Larger files are refused: an option file of this size is some other file.
inline constexpr std::size_t config_file_bytes_max = std::size_t{1} << 20;

/// The whole file; else what is wrong, with its path and the system's reason.
[[nodiscard]] std::expected<std::string, std::string> read_config_file(const std::string& path);

/// The document as a table; else "name:line:column: what is wrong". Nesting is bounded
/// (config_depth.hpp).
[[nodiscard]] std::expected<config_value, std::string> parse_toml(std::string_view text,
                                                                  const std::string& name);

}  // namespace weft::detail

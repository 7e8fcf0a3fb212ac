// A value that somebody gave for an option, not yet understood: from a file, the environment or the
// command line. Internal to config.
//
// Contract: plain data. `raw` text, of the environment and the command line, has no type yet; a
// file's values do.
//
//   config_value port{.kind = config_kind::integer, .integer = 80, .where = "weftd.toml:3:8"};
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::detail {

enum class config_kind : std::uint8_t { boolean, integer, floating, text, raw, list, table, other };

struct config_member;

struct config_value {
  config_kind kind = config_kind::table;
  bool boolean = false;
  std::int64_t integer = 0;
  double floating = 0;
  std::string text{};  // of kind text and raw; of other, what it is
  /// Of a table, in the file's order; of a list, without names.
  std::vector<config_member> members{};
  /// For people: "weftd.toml:3:8", "WEFT_HTTP_SERVER_LISTEN", "--http.server.listen".
  std::string where{};
};

struct config_member {
  std::string name;
  /// Where the name stands.
  std::string where;
  config_value value;
};

}  // namespace weft::detail

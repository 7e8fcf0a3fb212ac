// The table that a person has named on the command line: "shop.orders".
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <weft/store/catalog.hpp>

namespace weftd {

struct table_name {
  std::string database;
  std::string table;
};

/// Of "shop.orders", at the first point; nothing: there is none, or nothing before or behind it.
[[nodiscard]] std::optional<table_name> parse_table_name(std::string_view text);

/// One with a primary key; else what is wrong, and what there is instead.
[[nodiscard]] std::expected<const weft::store::table*, std::string> known_table(
    const weft::store::catalog& schema, std::string_view database, std::string_view table);

}  // namespace weftd

// What is said to who asks for a table that is not as it was any more.
//
//   if (!are_current(*schema, operations, sink)) co_return {};
#pragma once

#include <span>
#include <string_view>

#include <weft/store/catalog.hpp>
#include <weft/store/engine.hpp>

namespace weft::store {

inline constexpr std::string_view schema_has_changed =
    "the table has changed since the request was made: make it again";

/// Whether each operation's table is in `schema`; else all of them have failed, and `to` was told.
[[nodiscard]] bool are_current(const catalog& schema, std::span<const key_write> operations,
                               write_sink& to);

}  // namespace weft::store

// Which keys the character sets of their columns can hold.
//
// Problem: a server refuses a whole statement where one text of it has a character that the column
// it is compared with cannot have, and does not say which. Contract: one question for all keys,
// which looks at no table. The server gives the texts back as the charsets have them, character by
// character, with a question mark for what they lack. No charset holds what is not UTF-8, and a
// column without one holds all. Fails as connection::execute() does.
//
//   const auto held = co_await held_by_charsets(server, *orders, keys);
//   if (held && !(*held)[0]) missing(keys[0]);
#pragma once

#include <span>
#include <vector>

#include <weft/coro/borrowing_task.hpp>
#include <weft/store/mysql/connection.hpp>
#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

namespace weft::store::mysql {

/// `keys`: each with a value for each column of the table's primary key, in its order.
[[nodiscard]] borrowing_task<result<std::vector<bool>>> held_by_charsets(
    connection& by, const table& of WEFT_LIFETIME_BOUND,
    std::span<const std::span<const value>> keys WEFT_LIFETIME_BOUND);

}  // namespace weft::store::mysql

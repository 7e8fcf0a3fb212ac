// Which functions a client's query may call on a server that speaks MySQL's protocol.
//
// Problem: servers have functions that wait, lock, read files, tell of accounts and of other
// clients, and each release and each plugin adds some. Contract: a list of those that compute a
// value of their arguments, of MySQL 8 and MariaDB 10 and newer. Whatever is not in it is refused,
// functions that are stored in the database included: these do what their definer may do. One of
// them that has the name of a listed function which its server has not is taken for that. Regular
// expressions and XPath are not listed: a server cannot stop them (KILL and its limits of time are
// looked at between two calls), and a short pattern takes hours.
//
//   if (!is_allowed_before_parenthesis("concat")) ...
#pragma once

#include <string_view>

namespace weft::store::mysql {

/// Functions of the list, and words of SQL behind which a parenthesis is a call on no server: IN,
/// AND, OVER, DECIMAL. Without the case of letters.
[[nodiscard]] bool is_allowed_before_parenthesis(std::string_view word) noexcept;
/// Functions alone.
[[nodiscard]] bool is_allowed_function(std::string_view name) noexcept;

}  // namespace weft::store::mysql

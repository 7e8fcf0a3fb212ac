// The word that somebody who mistyped one most likely meant.
//
//   nearest_word("lsiten", {"listen", "backlog"});  // "listen"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weft::detail {

/// Of `known`; empty if none is near enough for a guess.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       std::span<const std::string_view> known);

/// "; did you mean 'listen'?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string_view> known);

/// "a, b, c".
[[nodiscard]] std::string list_of(std::span<const std::string_view> words);

}  // namespace weft::detail

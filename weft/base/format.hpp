// std::format, compiled once.
//
// Problem: each source that calls std::format makes the formatters of every type of its own: three
// quarters of the time that such a source takes to compile. Contract: the text, the checks at
// compile time and the exceptions (std::bad_alloc) are std::format's. For sources only: a header
// that includes this makes all its users read <format>.
#pragma once

#include <format>
#include <string>
#include <string_view>

namespace weft {

/// As std::vformat. Throws std::format_error for what `text` and `values` do not agree on.
[[nodiscard]] std::string vformat(std::string_view text, std::format_args values);

/// As std::format.
template <class... Values>
[[nodiscard]] std::string format(std::format_string<const Values&...> text,
                                 const Values&... values) {
  return weft::vformat(text.get(), std::make_format_args(values...));
}

}  // namespace weft

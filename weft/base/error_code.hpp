// Errors for code that speaks std::error_code.
//
// Problem: <system_error> is dear to compile, and few files need it. Contract: including this
// header makes weft::error and weft::errc convert to std::error_code implicitly (the standard's own
// extension point). An errc::system error with an errno becomes that errno in
// std::system_category(); every other one becomes its errc in weft::error_category(), equal to the
// std::errc condition of the same meaning where one exists.
//
//   std::error_code code = result.error();
//   if (code == weft::errc::timed_out || code == std::errc::timed_out) retry();
#pragma once

#include <weft/base/error.hpp>

#include <system_error>

template <>
struct std::is_error_code_enum<weft::error> : std::true_type {};

template <>
struct std::is_error_code_enum<weft::errc> : std::true_type {};

namespace weft {

// Named "weft"; its values are those of errc.
[[nodiscard]] const std::error_category& error_category() noexcept;

[[nodiscard]] std::error_code make_error_code(error from) noexcept;

}  // namespace weft

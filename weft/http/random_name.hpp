// A name that nobody can have foreseen, and no two things get: 128 bits from the system, in
// hexadecimal digits.
//
// Contract: private to weft/http's sources. errc::unavailable: the system has none to give.
//
//   const auto name = draw_random_name();   // "0f3a..." of 32 characters
#pragma once

#include <string>

#include <weft/base/result.hpp>

namespace weft::http {

[[nodiscard]] result<std::string> draw_random_name();

}  // namespace weft::http

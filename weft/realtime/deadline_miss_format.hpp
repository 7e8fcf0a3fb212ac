// std::format of a deadline_miss, as describe() tells of it: for those who include <format> anyway.
//
//   log.write(log::level::warning, "{}", miss);  // deferred_log.hpp: allocates nothing here
#pragma once

#include <format>
#include <string>

#include <weft/realtime/deadline_miss.hpp>

/// Its formats are those of texts.
template <>
struct std::formatter<weft::realtime::deadline_miss> : std::formatter<std::string> {
  template <class Context>
  auto format(const weft::realtime::deadline_miss& miss, Context& context) const {
    return std::formatter<std::string>::format(weft::realtime::describe(miss), context);
  }
};

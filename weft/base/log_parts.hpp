// A line of the log where there may be no memory to make it.
//
// Problem: what tells of an exception is called while that is handled, and std::bad_alloc is one
// that a second allocation answers with another. Contract: the parts are one line, one behind the
// other, of which the first 1,000 bytes are kept; nothing is allocated and nothing thrown.
//
//   log::error_of({"a task of ", owner.name(), " threw: ", why.what()});
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include <weft/base/log.hpp>

namespace weft::log {

inline void error_of(std::initializer_list<std::string_view> parts) noexcept {
  std::array<char, 1'000> line;
  std::size_t size = 0;
  for (const std::string_view part : parts)
    size += part.copy(line.data() + size, line.size() - size);
  error({line.data(), size});
}

}  // namespace weft::log

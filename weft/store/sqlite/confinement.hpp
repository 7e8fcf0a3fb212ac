// What a connection lets through while it runs SQL that a client wrote.
//
// Problem: a connection for reading still takes PRAGMA, ATTACH and functions that load code, and
// any statement may take all the time and memory there is. Contract: while it lives, its connection
// prepares only statements that read, whose texts, values and patterns are bounded, and asks
// `goes_on` every few thousand instructions of SQLite's machine. Then all is as before. Of one
// thread at a time, like the connection, which outlives it.
//
//   const confinement here{connection, &ask, this};
#pragma once

#include <array>
#include <cstddef>

#include <weft/store/sqlite/handle.hpp>

namespace weft::store::sqlite {

class [[nodiscard]] confinement {
 public:
  static constexpr int value_bytes_max = 16 * 1024 * 1024;
  static constexpr int text_bytes_max = 256 * 1024;

  /// `goes_on` of `context`: 0, or the statement ends with SQLITE_INTERRUPT.
  confinement(connection& of, int (*goes_on)(void* context), void* context) noexcept;
  confinement(const confinement&) = delete;
  confinement& operator=(const confinement&) = delete;
  ~confinement();

 private:
  static constexpr std::size_t bounds = 5;

  connection& of_;
  std::array<int, bounds> before_{};
};

}  // namespace weft::store::sqlite

// What a connection lets through while it runs SQL that a client wrote.
//
// Problem: a connection for reading still takes PRAGMA, ATTACH and functions that load code, and
// any statement may take all the time, memory and stack there is. Contract: while it lives, its
// connection prepares only statements that read, whose texts, values, patterns and depth are
// bounded, and asks `goes_on` every thousand instructions of SQLite's machine. The deeper the
// selects of a query may stand in one another, the less deep each expression may be: SQLite puts
// the ones into the others. Then all is as before. Of one thread at a time, like the connection,
// which outlives it and has read its schema (snapshot.hpp). Who prepares heeds the `_max` first.
//
//   const confinement here{connection, shape_of(text), &ask, this};
#pragma once

#include <array>
#include <cstddef>

#include <weft/store/sqlite/handle.hpp>
#include <weft/store/sqlite/query_shape.hpp>

namespace weft::store::sqlite {

class [[nodiscard]] confinement {
 public:
  static constexpr int value_bytes_max = 1024 * 1024;
  static constexpr int text_bytes_max = 64 * 1024;
  static constexpr std::size_t parentheses_max = 100;
  static constexpr std::size_t selects_max = 100;
  static constexpr int columns_max = 512;
  static constexpr std::size_t row_bytes_max = 4 * 1024 * 1024;

  /// `goes_on` of `context`: 0, or the statement ends with SQLITE_INTERRUPT.
  confinement(connection& of, const query_shape& shape, int (*goes_on)(void* context),
              void* context) noexcept;
  confinement(const confinement&) = delete;
  confinement& operator=(const confinement&) = delete;
  ~confinement();

  /// The client's statement is prepared: what is prepared from now on is what modules of virtual
  /// tables need while it runs, and they may ask whether the database has changed.
  void let_modules_read() noexcept { modules_read_ = true; }

 private:
  static constexpr std::size_t bounds = 8;
  static int allow_reading(void* self, int action, const char* first, const char* second,
                           const char* database, const char* trigger);

  connection& of_;
  std::array<int, bounds> before_{};
  bool modules_read_ = false;
};

}  // namespace weft::store::sqlite

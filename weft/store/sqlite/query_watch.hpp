// Whether the query that runs on this thread is to end, for functions that it calls.
//
// Problem: SQLite looks at the clock between two instructions of its machine, and some programs
// call one long function after the other. Contract: while it lives, functions on its thread may
// ask; where there is none, nothing is to end. One at a time on a thread.
//
//   const query_watch here{&ask_whether_to_go_on, this};
//   if (query_watch::is_over()) return sqlite3_result_error_code(to, SQLITE_INTERRUPT);
#pragma once

#include <utility>

namespace weft::store::sqlite {

class [[nodiscard]] query_watch {
 public:
  /// `goes_on` of `context`: 0, or the query is to end.
  query_watch(int (*goes_on)(void* context), void* context) noexcept
      : goes_on_{goes_on}, context_{context}, before_{std::exchange(current, this)} {}
  query_watch(const query_watch&) = delete;
  query_watch& operator=(const query_watch&) = delete;
  ~query_watch() { current = before_; }

  [[nodiscard]] static bool is_over() {
    return current != nullptr && current->goes_on_(current->context_) != 0;
  }

 private:
  static thread_local constinit inline query_watch* current = nullptr;

  int (*goes_on_)(void* context);
  void* context_;
  query_watch* before_;
};

}  // namespace weft::store::sqlite

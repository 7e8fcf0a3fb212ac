// How far long work has come, on a line of the terminal that is written over again and again.
//
// Contract: on stderr, if that is a terminal; else nothing is shown. Five times a second at most.
// One thread.
//
//   progress_line progress{"rows"};
//   progress.show({.count = rows, .done = file.place().offset_bytes, .all = file.size_bytes()});
//   progress.clear();                          // before anything else is written to stderr
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace weftd {

struct progress {
  std::uint64_t count;
  // Of what says how much is left, such as bytes; `all` of 0: nobody knows.
  std::uint64_t done = 0;
  std::uint64_t all = 0;
};

class progress_line {
 public:
  /// `what` is counted: "rows".
  explicit progress_line(std::string_view what);
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() { clear(); }

  void show(const progress& now);
  void clear();
  [[nodiscard]] std::chrono::nanoseconds elapsed() const {
    return std::chrono::steady_clock::now() - began_;
  }

 private:
  std::string_view what_;
  bool is_terminal_;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_;
};

/// "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);

/// What is shown of it: `[######....]  60 %  1,234,567 rows  210,000/s  4 s left`.
[[nodiscard]] std::string progress_text(const progress& now, std::string_view what,
                                        std::chrono::nanoseconds elapsed);

}  // namespace weftd

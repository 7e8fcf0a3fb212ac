// The exception that has left a coroutine, until somebody asks for it.
//
// Problem: nearly always there is none, and yet each copy and each end of a std::exception_ptr is a
// call into the library with libc++, for every coroutine there is. Contract: holds one exception at
// most; what holds none costs a null pointer and the looking at it.
//
//   failure.keep_current();   // in a handler
//   failure.rethrow_if_any();
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include <weft/base/rare_call.hpp>

namespace weft::detail {

class kept_failure {
 public:
  kept_failure() noexcept : kept_{} {}
  kept_failure(const kept_failure&) = delete;
  kept_failure& operator=(const kept_failure&) = delete;
  ~kept_failure() {
    if (*this) [[unlikely]]
      drop();
  }

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(kept_); }

  /// The one that is being handled.
  void keep_current() noexcept { kept_ = std::current_exception(); }
  [[nodiscard]] std::exception_ptr take() noexcept { return std::exchange(kept_, nullptr); }
  void rethrow_if_any() {
    if (*this) [[unlikely]]
      std::rethrow_exception(take());
  }

 private:
  WEFT_RARE_CALL void drop() noexcept { std::destroy_at(&kept_); }

  union {  // so that nothing ends it unasked
    std::exception_ptr kept_;
  };
};

}  // namespace weft::detail

// One object per thread, created at its first use, and functions that run when a thread ends.
//
// Problem: the first use of a `thread_local` with a destructor allocates, and glibc aborts if there
// is no memory. Contract: here() creates the object on the first call of a thread. If there is no
// memory, it throws std::bad_alloc, and a later call tries again. The object is destroyed when its
// thread ends, after the `thread_local` objects of that thread; at the end of the process nothing
// is destroyed. There is one object of each T per thread: use a type of your own. A thread_end
// calls a function when a thread that has registered ends, and outlives all threads. Any thread.
//
//   struct reply_text { std::string text; };
//   std::string& text = thread_owned<reply_text>::here().text;
//
//   static const thread_end end{[](void* pool) { static_cast<frames*>(pool)->free_all(); }};
//   if (!end.call_with(&pool)) throw std::bad_alloc{};
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace weft {

class thread_end {
 public:
  explicit thread_end(void (*run)(void*)) noexcept
      : is_known_{::pthread_key_create(&key_, run) == 0} {}

  /// Runs the function with `what`, which is not nullptr, when this thread ends. A later call
  /// replaces an earlier one. False: there is no memory for it.
  [[nodiscard]] bool call_with(void* what) const noexcept {
    return is_known_ && ::pthread_setspecific(key_, what) == 0;
  }

 private:
  pthread_key_t key_{};
  bool is_known_;
};

template <class T>
class thread_owned {
 public:
  [[nodiscard]] static T& here() {
    if (mine == nullptr) [[unlikely]]
      make();
    return *mine;
  }
  /// nullptr: this thread has none.
  [[nodiscard]] static T* find() noexcept { return mine; }

 private:
  static void make() {
    static const thread_end end{[](void* gone) {
      mine = nullptr;
      delete static_cast<T*>(gone);
    }};
    auto made = std::make_unique<T>();
    if (!end.call_with(made.get())) throw std::bad_alloc{};
    mine = made.release();
  }

  static constinit inline thread_local T* mine = nullptr;
};

}  // namespace weft

// An object that each thread has for itself from its first use on, and what is done at a thread's
// end.
//
// Problem: glibc allocates when a `thread_local` with a destructor is used for the first time, and
// ends the program where there is no memory. Contract: here() makes the object at a thread's first
// call, throws std::bad_alloc where there is no memory, and may be called again; the object is
// destroyed when its thread ends, after the thread's `thread_local` objects. Where the main thread
// ends the process, nothing is destroyed. There is one T for a thread: give it a type of its own. A
// thread_end calls a function at the end of each thread that has asked it to, and outlives all of
// them. Any thread.
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

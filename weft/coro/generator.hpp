// A sequence that is computed as it is asked for: std::generator, which libc++ 19 has not.
//
// Contract: an input range, gone through once, by one range-for. The body runs only while the next
// item is asked for, on the caller's stack; it cannot co_await (see async_generator.hpp). `co_yield
// item` gives a reference to the item, which lives until the next one is asked for; the consumer
// may move from it. An exception that leaves the body is thrown to who asked. May be destroyed at
// any time: what the body holds is then destroyed. The frame comes from the shard's frame_pool.
//
//   generator<int> up_to(int limit) {
//     for (int i = 0; i < limit; ++i) co_yield i;
//   }
//   for (int number : up_to(3)) use(number);
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/coro/frame_pool.hpp>

namespace weft {

template <class T>
class [[nodiscard]] generator {
 public:
  class promise_type {
   public:
    static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
    static void operator delete(void* frame, std::size_t size_bytes) noexcept {
      frame_pool::deallocate(frame, size_bytes);
    }

    generator get_return_object() noexcept {
      return generator{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    std::suspend_always yield_value(T& item) noexcept {
      item_ = std::addressof(item);
      return {};
    }
    std::suspend_always yield_value(T&& item) noexcept {
      item_ = std::addressof(item);
      return {};
    }
    void return_void() const noexcept {}
    void unhandled_exception() const { throw; }
    void await_transform() = delete;

   private:
    friend generator;
    T* item_ = nullptr;
  };

  class iterator {
   public:
    using value_type = std::remove_cv_t<T>;
    using difference_type = std::ptrdiff_t;

    T& operator*() const noexcept { return *frame_.promise().item_; }
    T* operator->() const noexcept { return frame_.promise().item_; }
    iterator& operator++() {
      frame_.resume();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
      return at.frame_.done();
    }

   private:
    friend generator;
    explicit iterator(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}
    std::coroutine_handle<promise_type> frame_;
  };

  generator(generator&& other) noexcept : frame_{std::exchange(other.frame_, nullptr)} {}
  generator& operator=(generator&& other) noexcept {
    generator taken{std::move(other)};
    std::swap(frame_, taken.frame_);
    return *this;
  }
  ~generator() {
    if (frame_) frame_.destroy();
  }

  /// Runs to the first item; to be called once.
  [[nodiscard]] iterator begin() {
    frame_.resume();
    return iterator{frame_};
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  explicit generator(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}
  std::coroutine_handle<promise_type> frame_;
};

}  // namespace weft

// A sequence whose items must be waited for: a coroutine that may both co_await and co_yield.
//
// Contract: `co_await gen.next()` runs the body to its next co_yield and gives a pointer to the
// item, which lives until the next call and may be moved from; nullptr at the end, and ever after.
// The body inherits the environment of whoever awaits next(), each time anew: a stop request or a
// deadline of the consumer ends the waits inside, and the body says what it makes of that. Control
// goes to and fro by symmetric transfer: no stack, no ready queue, no allocation after the frame,
// which comes from the shard's frame_pool. An exception that leaves the body is rethrown by next().
// Destroyed between calls, at any item, never while next() waits. One consumer, one shard.
//
//   async_generator<line> lines(net::tcp_stream& stream) {
//     while (auto bytes = co_await stream.read()) co_yield split(*bytes);
//   }
//   auto all = lines(stream);
//   while (line* one = co_await all.next()) use(*one);
#pragma once

#include <coroutine>
#include <memory>
#include <source_location>
#include <utility>

#include <weft/coro/task.hpp>

namespace weft {

template <class T>
class [[nodiscard]] async_generator {
 public:
  class promise_type final : public detail::promise_base {
   public:
    promise_type() noexcept : promise_base{nullptr} {}

    async_generator get_return_object(
        std::source_location begins_at = std::source_location::current()) noexcept {
      waits_at = begins_at;
      return async_generator{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    auto yield_value(T& item) noexcept { return hand_over(item); }
    auto yield_value(T&& item) noexcept { return hand_over(item); }
    void return_void() noexcept { item_ = nullptr; }
    void unhandled_exception() noexcept {
      item_ = nullptr;
      promise_base::unhandled_exception();
    }

   private:
    friend async_generator;
    struct yield_awaiter {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(
          std::coroutine_handle<promise_type> yielding) const noexcept {
        return yielding.promise().give_back();
      }
      void await_resume() const noexcept {}
    };
    yield_awaiter hand_over(T& item) noexcept {
      item_ = std::addressof(item);
      return {};
    }

    T* item_ = nullptr;
  };

  async_generator(async_generator&& other) noexcept
      : frame_{std::exchange(other.frame_, nullptr)} {}
  async_generator& operator=(async_generator&& other) noexcept {
    async_generator taken{std::move(other)};
    std::swap(frame_, taken.frame_);
    return *this;
  }
  ~async_generator() {
    if (!frame_) return;
    WEFT_ASSERT(frame_.done() || frame_.promise().caller == nullptr,
                "a generator is destroyed between two calls of next()");
    frame_.destroy();
  }

  /// Awaitable, gives T*: the next item, or nullptr.
  auto next() noexcept { return next_awaiter{frame_}; }

 private:
  struct [[nodiscard]] next_awaiter {
    std::coroutine_handle<promise_type> frame;
    bool await_ready() const noexcept { return frame.done(); }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) const noexcept {
      WEFT_DEBUG_ASSERT(frame.promise().caller == nullptr, "a generator has one consumer");
      frame.promise().await_from(caller.promise());
      return frame;
    }
    [[nodiscard]] T* await_resume() const {
      promise_type& promise = frame.promise();
      promise.failure.rethrow_if_any();
      return promise.item_;
    }
  };

  explicit async_generator(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}
  std::coroutine_handle<promise_type> frame_;
};

}  // namespace weft

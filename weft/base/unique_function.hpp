// A callable of any type behind one type, for callbacks that own what they need.
//
// Problem: std::function copies, so it cannot hold a move-only callable, and its inline space is
// small and unspecified. Contract: move-only; a callable of up to InlineBytes that moves without
// throwing and needs no more than pointer alignment lives inside, any other on the heap. A call is
// one indirect call with no test for emptiness before it. Calling an empty or moved-from one is a
// mistake and asserts. While a call runs, the object must neither be destroyed nor assigned to. No
// thread rules of its own.
//
//   weft::unique_function<int(int)> add = [base = std::make_unique<int>(40)](int x) { return *base
//   + x; }; weft::unique_function<int(int)> moved = std::move(add); int answer = moved(2);
#pragma once

#include <weft/base/assert.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace weft {

template <class Signature, std::size_t InlineBytes = 48>
class unique_function;

namespace detail {

// By value what fits a register, by reference all else: an argument crosses the erased call without
// a copy.
template <class T>
using erased_argument = std::conditional_t<std::is_scalar_v<T>, T, T&&>;

template <class F, class R, class... Args>
concept callable_as = requires(F& f, Args&&... args) {
  requires std::is_void_v<R> || std::is_convertible_v<decltype(f(static_cast<Args&&>(args)...)), R>;
  f(static_cast<Args&&>(args)...);
};

}  // namespace detail

template <class R, class... Args, std::size_t InlineBytes>
class unique_function<R(Args...), InlineBytes> {
  static_assert(InlineBytes >= sizeof(void*), "a callable on the heap needs room for its pointer");

 public:
  unique_function() noexcept = default;
  unique_function(std::nullptr_t) noexcept {}

  // Implicit, so that a lambda can be passed where a unique_function is expected. Allocates only
  // where the callable does not fit inside.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, unique_function> &&
             detail::callable_as<std::decay_t<F>, R, Args...>)
  unique_function(F&& f) {
    using callable = std::decay_t<F>;
    if constexpr (std::is_pointer_v<std::remove_cvref_t<F>>) {
      WEFT_ASSERT(f != nullptr, "a unique_function cannot hold a null function pointer");
    }
    if constexpr (fits_inside<callable>) {
      ::new (static_cast<void*>(storage_)) callable(std::forward<F>(f));
      operations_ = &inline_table<callable>;
    } else {
      ::new (static_cast<void*>(storage_)) callable*(new callable(std::forward<F>(f)));
      operations_ = &heap_table<callable>;
    }
  }

  unique_function(unique_function&& other) noexcept { take(other); }

  unique_function& operator=(unique_function&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }

  unique_function(const unique_function&) = delete;
  unique_function& operator=(const unique_function&) = delete;

  ~unique_function() { reset(); }

  R operator()(Args... args) { return operations_->invoke(storage_, static_cast<Args&&>(args)...); }

  // False when empty: default constructed, reset or moved from.
  [[nodiscard]] explicit operator bool() const noexcept { return operations_ != &empty_table; }

  // Destroys the callable, if any.
  void reset() noexcept {
    const operations* old = std::exchange(operations_, &empty_table);
    if (old->destroy != nullptr) old->destroy(storage_);
  }

 private:
  struct operations {
    R (*invoke)(void* storage, detail::erased_argument<Args>... args);
    void (*relocate)(void* from, void* to) noexcept;  // null: copying the bytes moves it
    void (*destroy)(void* storage) noexcept;          // null: nothing to destroy
  };

  template <class F>
  static constexpr bool fits_inside = sizeof(F) <= InlineBytes && alignof(F) <= alignof(void*) &&
                                      std::is_nothrow_move_constructible_v<F>;

  template <class F>
  static R call(F& f, detail::erased_argument<Args>... args) {
    if constexpr (std::is_void_v<R>) {
      static_cast<void>(f(static_cast<Args&&>(args)...));
    } else {
      return f(static_cast<Args&&>(args)...);
    }
  }

  template <class F>
  static F& inside(void* storage) noexcept {
    return *std::launder(static_cast<F*>(storage));
  }

  template <class F>
  static constexpr operations make_inline_table() noexcept {
    operations table{};
    table.invoke = [](void* storage, detail::erased_argument<Args>... args) -> R {
      return call(inside<F>(storage), static_cast<detail::erased_argument<Args>&&>(args)...);
    };
    if constexpr (!std::is_trivially_copyable_v<F>) {
      table.relocate = [](void* from, void* to) noexcept {
        ::new (to) F(std::move(inside<F>(from)));
        inside<F>(from).~F();
      };
    }
    if constexpr (!std::is_trivially_destructible_v<F>) {
      table.destroy = [](void* storage) noexcept { inside<F>(storage).~F(); };
    }
    return table;
  }

  template <class F>
  static constexpr operations make_heap_table() noexcept {
    return {.invoke = [](void* storage, detail::erased_argument<Args>... args) -> R {
              return call(*inside<F*>(storage),
                          static_cast<detail::erased_argument<Args>&&>(args)...);
            },
            .relocate = nullptr,
            .destroy = [](void* storage) noexcept { delete inside<F*>(storage); }};
  }

  [[noreturn]] static R call_empty(void*, detail::erased_argument<Args>...) {
    detail::assertion_failed(__FILE__, __LINE__, "*this", "an empty unique_function was called");
  }

  template <class F>
  static constexpr operations inline_table = make_inline_table<F>();
  template <class F>
  static constexpr operations heap_table = make_heap_table<F>();
  static constexpr operations empty_table{
      .invoke = &call_empty, .relocate = nullptr, .destroy = nullptr};

  // Expects *this to be empty and leaves `other` empty.
  void take(unique_function& other) noexcept {
    operations_ = std::exchange(other.operations_, &empty_table);
    if (operations_->relocate != nullptr) {
      operations_->relocate(other.storage_, storage_);
      return;
    }
    // A constant size: a few moves, no call. GCC warns that a lambda without captures has left
    // these bytes as they were; nobody reads them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
    std::memcpy(storage_, other.storage_, InlineBytes);
#pragma GCC diagnostic pop
  }

  const operations* operations_ = &empty_table;
  alignas(void*) std::byte storage_[InlineBytes];
};

}  // namespace weft

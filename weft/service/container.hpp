// The services of one shard: made from what their constructors need, started and stopped in that
// order.
//
// Contract: add<T>() says that there is to be a T; provide() lends an object the container does not
// own. start() makes each service when a constructor first needs it, so that what is needed is
// made, and started, before who needs it; the order is otherwise that of add(). A service may have
// `start()` and `stop()`, each giving void, result<void> or task<result<void>>, and
// `connections()`, the number of those that stop() will have to wait for. Anything missing,
// circular or failing is logged with its path. stop() stops what has been started, in reverse
// order, after a failed start() too; the destructor destroys in reverse order. One shard; one
// provider a type.
//
//   container services;
//   services.add<http::server>({.listen = ":8080"});
//   services.add<ping_api>();
//   auto up = co_await services.start();
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/base/assert.hpp>
#include <weft/base/result.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/injection.hpp>
#include <weft/service/type_name.hpp>

namespace weft {

class container {
 public:
  container();
  container(const container&) = delete;
  container& operator=(const container&) = delete;
  ~container();

  /// There is to be a T, made from `options`. Asserts that there is none yet.
  template <class T>
  void add(options_of<T> options = {}) {
    insert(type_name<T>, [options = std::move(options)](container& services) mutable {
      return detail::construct<T>(std::move(options), services, [](auto&&... arguments) {
        return instance::holding(new T{std::forward<decltype(arguments)>(arguments)...});
      });
    });
  }

  /// `object`, which outlives the container, is what `T&` means.
  template <class T>
  void provide(T& object) {
    lend(type_name<T>, &object);
  }

  /// The T there is; made now, with all it needs, if start() has not come to it yet. Throws
  /// std::logic_error, its text the path, if one of them is missing or circular or its constructor
  /// throws; start() gives an error instead.
  template <class T>
  [[nodiscard]] T& get() {
    return *static_cast<T*>(resolve(type_name<T>));
  }
  /// nullptr if there is none, or none has been made.
  template <class T>
  [[nodiscard]] T* find() noexcept {
    return static_cast<T*>(look_up(type_name<T>));
  }

  /// errc::not_found (missing), errc::invalid_argument (circular, or a constructor threw) or the
  /// error of the service that failed; the log has the path.
  [[nodiscard]] task<result<void>> start();
  /// The first error; all are stopped in any case.
  [[nodiscard]] task<result<void>> stop();

  /// The type of the service whose stop() runs now; empty: none. Any thread.
  [[nodiscard]] std::string_view stopping() const noexcept;
  /// What the services' `connections()` add up to; nothing if none of them has that.
  [[nodiscard]] std::optional<std::size_t> connections() const;

 private:
  /// A service with its type erased.
  struct instance {
    void* object = nullptr;
    void (*destroy)(void*) noexcept = nullptr;
    task<result<void>> (*start)(void*) = nullptr;
    task<result<void>> (*stop)(void*) = nullptr;
    std::size_t (*connections)(const void*) = nullptr;

    template <class T>
    static instance holding(T* object) noexcept;
  };
  using factory = unique_function<instance(container&), 160>;
  struct entry;

  void insert(std::string_view type, factory make);
  void lend(std::string_view type, void* object);
  [[nodiscard]] void* resolve(std::string_view type);
  [[nodiscard]] void* look_up(std::string_view type) const noexcept;
  [[nodiscard]] entry* find_entry(std::string_view type) const noexcept;
  [[nodiscard]] result<void> make_all();
  [[nodiscard]] static task<result<void>> call(std::string_view type, task<result<void>> work);
  void make(entry& wanted);
  [[nodiscard]] std::string path_from(std::size_t outermost) const;
  [[nodiscard]] std::string missing(std::string_view type) const;

  std::vector<std::unique_ptr<entry>> entries_;
  std::vector<entry*> made_;    // in the order of their making
  std::vector<entry*> making_;  // whose constructors run now, outermost first
  std::size_t started_ = 0;     // of made_, from the front
  std::atomic<const entry*> stopping_{nullptr};
};

namespace detail {

/// What `start()` or `stop()` gives, as the one type the container awaits.
template <class Call>
task<result<void>> as_task(Call call) {
  using type = decltype(call());
  if constexpr (std::is_void_v<type>) {
    call();
    co_return result<void>{};
  } else if constexpr (std::is_same_v<type, result<void>>) {
    co_return call();
  } else {
    static_assert(
        std::is_same_v<type, task<result<void>>>,
        "start() and stop() give void, weft::result<void> or weft::task<weft::result<void>>");
    co_return co_await call();
  }
}

}  // namespace detail

template <class T>
container::instance container::instance::holding(T* object) noexcept {
  instance made;
  made.object = object;
  made.destroy = [](void* self) noexcept { delete static_cast<T*>(self); };
  if constexpr (requires(T& self) { self.start(); })
    made.start = [](void* self) {
      return detail::as_task([self = static_cast<T*>(self)] { return self->start(); });
    };
  if constexpr (requires(T& self) { self.stop(); })
    made.stop = [](void* self) {
      return detail::as_task([self = static_cast<T*>(self)] { return self->stop(); });
    };
  if constexpr (requires(const T& self) {
                  { self.connections() } -> std::convertible_to<std::size_t>;
                })
    made.connections = [](const void* self) -> std::size_t {
      return static_cast<const T*>(self)->connections();
    };
  return made;
}

}  // namespace weft

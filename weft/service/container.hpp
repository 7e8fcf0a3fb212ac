// The services of one shard: made from what their constructors need, started and stopped in that
// order.
//
// Contract: add<T>() says that there is to be a T; provide() lends an object the container does not
// own. start() makes all services, in the order of add() where needs allow, else each as soon as
// what it needs has been made, and then starts them in the order of their making. A service may
// have `start()` and `stop()`, each giving void, result<void> or task<result<void>>, and
// `connections()`, the number of those that stop() will have to wait for. Anything missing,
// circular or failing is logged with its path. stop() stops what has been started, in reverse
// order, after a failed start() too, and with each service its tasks; the destructor destroys in
// reverse order. What this costs grows with services and needs, not with their square. One shard.
//
//   container services;
//   services.add<http::server>({.listen = ":8080"});
//   services.add<ping_api>();
//   auto up = co_await services.start();
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/service_block.hpp>
#include <weft/service/service_builder.hpp>
#include <weft/service/service_graph.hpp>

namespace weft {

class container {
 public:
  container();
  container(const container&) = delete;
  container& operator=(const container&) = delete;
  ~container();

  /// There is to be a T, made from `options`. What else is to be said of it, the builder takes.
  template <class T>
  service_builder<T> add(options_of<T> options = {}) {
    auto* const added = new detail::service_block<T>{detail::kind_of<T>, std::move(options)};
    return {graph_, *added, graph_.insert(*added)};
  }

  /// `object`, which outlives the container, is what `T&` means.
  template <class T>
  void provide(T& object) {
    graph_.lend(*new detail::service_record{detail::lent_kind<T>, detail::key_of<T>}, &object);
  }

  /// The T there is; if start() has not been called yet, all services are made now. Throws
  /// std::logic_error, its text the path, if it cannot be had; start() gives an error instead.
  template <class T>
  [[nodiscard]] T& get() {
    return *static_cast<T*>(resolve(detail::key_of<T>));
  }
  /// nullptr if there is none, or several that are told apart by name, or none has been made.
  template <class T>
  [[nodiscard]] T* find() const noexcept {
    const detail::provision* const found = graph_.find(detail::key_of<T>);
    return found == nullptr ? nullptr : static_cast<T*>(found->object);
  }

  /// errc::not_found (missing), errc::invalid_argument (circular, or a constructor threw) or the
  /// error of the service that failed; the log has the path.
  [[nodiscard]] task<result<void>> start();
  /// The first error; all are stopped in any case.
  [[nodiscard]] task<result<void>> stop();

  /// The type of the service whose stop() runs now; empty: none. Any thread.
  [[nodiscard]] std::string_view stopping() const noexcept;
  /// What the services' `connections()` add up to; nothing if none of them has that.
  [[nodiscard]] std::optional<std::size_t> connections();

 private:
  [[nodiscard]] void* resolve(detail::interface_key& interface);
  [[nodiscard]] task<result<void>> stop_slowly(detail::service_record& service);
  [[nodiscard]] task<void> end_tasks(detail::service_record* first);

  detail::service_graph graph_;
  detail::service_record* last_started_ = nullptr;
  std::atomic<const detail::service_kind*> stopping_{nullptr};
};

}  // namespace weft

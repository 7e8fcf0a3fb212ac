// The services of one shard: made from what their constructors need, started and stopped in that
// order.
//
// Contract: add<T>() says that there is to be a T; provide() lends an object the container does not
// own. start() makes all services, in the order of add() where needs allow, else each as soon as
// what it needs has been made, and then starts them in the order of their making. A service may
// have `start()` and `stop()`, each giving void, result<void> or task<result<void>>, and
// `connections()`, the number of those that stop() will have to wait for, and `reload()`, which
// gives result<void> and reads anew what it has from files. Anything missing,
// circular or failing is logged with its path. stop() stops what has been started, in reverse
// order, after a failed start() too, and with each service its tasks; the destructor destroys in
// reverse order. What this costs grows with services and needs, not with their square.
//
// While all run, single services are added, started, stopped, restarted and removed, one change at
// a time: who asks meanwhile waits in line, and leaves it when asked to stop or at its deadline.
// Dependants follow: who has a `T&` is stopped and destroyed before the T is, and made and started
// anew when there is a T again; a maybe<T> reads as null from the moment the change begins. A
// change that has begun goes on to its end. It is refused (errc::invalid_argument, and the log says
// why) when who asks would wait for itself: a service for its own end, and, in its start() or
// stop() and before it has started, for any change. One shard.
//
// A constructor may ask for the `container&` that it is made by.
//
//   container services;
//   services.add<http::server>({.listen = ":8080"});
//   const auto api = services.add<ping_api>().handle();
//   auto up = co_await services.start();
//   auto anew = co_await services.restart(api);
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/service_block.hpp>
#include <weft/service/service_builder.hpp>
#include <weft/service/service_changes.hpp>
#include <weft/service/service_follower.hpp>
#include <weft/service/service_graph.hpp>
#include <weft/service/service_info.hpp>

namespace weft {

class container {
 public:
  container();
  container(const container&) = delete;
  container& operator=(const container&) = delete;
  ~container();

  /// There is to be a T, made from `options`. What else is to be said of it, the builder takes.
  /// Once start() has been called, it is made by the next one, or by start() of its handle.
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

  /// The T there is; if no start() has been called yet, all services are made now. Throws
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

  /// Whether `T&` means somebody, made or not.
  template <class T>
  [[nodiscard]] bool has() const noexcept {
    return graph_.find(detail::key_of<T>) != nullptr;
  }

  /// Of the T with this name, or that `T&` means; nothing: nobody is, or it is lent.
  template <class T>
  [[nodiscard]] std::optional<service_handle> handle_of(std::string_view name = {}) const {
    return handle_of(detail::key_of<T>, name);
  }
  [[nodiscard]] std::optional<service_handle> handle_of(detail::interface_key& interface,
                                                        std::string_view name) const {
    return graph_.handle_of(interface, name);
  }

  /// The T, when it has started; not before. errc::closed: all services are being stopped;
  /// errc::cancelled or errc::timed_out as the environment says. It may have gone after the
  /// caller's next wait.
  template <class T>
  [[nodiscard]] task<result<T*>> wait_for() {
    const auto up = co_await changes_.until_started(detail::key_of<T>);
    if (!up) co_return fail(up.error());
    co_return static_cast<T*>(*up);
  }

  /// Tells of each I: `added(I&)` when it has started, at once of those that have, and
  /// `removed(I&)` before it stops; either may take a `const service_info&` as well. `takes(const
  /// service_info&)` says of which, and of one always the same. Until `owner` ends, as events.on()
  /// does: then nothing is said of those that stay. Those that leave together are told of when none
  /// of them is found any more. Who begins to track in the midst of it hears of those that stay
  /// alone, and of nobody twice. An exception is logged, and all go on.
  template <class I, class Filter, class Added, class Removed>
    requires(!std::is_convertible_v<Removed, lifetime*>)
  event_registration track(Filter takes, Added added, Removed removed,
                           lifetime* owner = lifetime::current()) {
    static_assert(std::is_invocable_r_v<bool, Filter&, const service_info&>,
                  "track<I>() filters by `bool takes(const weft::service_info&)`");
    static_assert(detail::hears_of<Added, I> && detail::hears_of<Removed, I>,
                  "track<I>() calls `added(I&)` and `removed(I&)`");
    return graph_.follow(
        detail::key_of<I>,
        std::make_unique<detail::service_follower_of<I, Filter, Added, Removed>>(
            graph_.departures(), std::move(takes), std::move(added), std::move(removed)),
        owner);
  }
  template <class I, class Added, class Removed>
  event_registration track(Added added, Removed removed, lifetime* owner = lifetime::current()) {
    return track<I>([](const service_info&) { return true; }, std::move(added), std::move(removed),
                    owner);
  }

  /// All but those that were stopped by their handle; after stop(), new ones. errc::not_found
  /// (missing), errc::invalid_argument (circular, or a constructor threw) or the error of the
  /// service that failed; the log has the path. The environment of a start() ends with it: what
  /// goes on is a task of the service's lifetime.
  [[nodiscard]] task<result<void>> start() { return changes_.start_all(); }
  /// The first error; all are stopped in any case, after the change that is under way, which is
  /// hastened. A service that asks for this and waits is refused.
  [[nodiscard]] task<result<void>> stop() { return changes_.stop_all(); }

  // Of one service and those who need it. errc::not_found: the handle names none; errc::closed: all
  // are being stopped, or have been; errc::cancelled, errc::timed_out: before its turn, the end of
  // the service that asks being a stop request as well;
  // errc::invalid_argument: refused.

  /// With what it needs and has only been added, and those who have waited for it. The first
  /// failure; errc::unavailable if something that it needs is down. Who fails stays down, with
  /// those who need it, until it is started, or what it needs comes anew.
  [[nodiscard]] task<result<void>> start(service_handle one) { return changes_.start(one); }
  /// Stays down until start(). The first error of a stop(); all have gone in any case.
  [[nodiscard]] task<result<void>> stop(service_handle one) { return changes_.stop(one); }
  /// A new object from the same options, which can be copied. Fails as start() does.
  [[nodiscard]] task<result<void>> restart(service_handle one) { return changes_.restart(one); }
  /// As stop(), and forgets it: its handle names none from then on. Those who needed it wait for
  /// another.
  [[nodiscard]] task<result<void>> remove(service_handle one) { return changes_.remove(one); }

  /// All services with their states, and who needs whom; of those that are not made yet, whom they
  /// would get. For introspection: it looks at all.
  [[nodiscard]] std::vector<service_description> describe() const { return graph_.describe(); }

  /// The type of the service whose stop() runs now; empty: none. Any thread.
  [[nodiscard]] std::string_view stopping() const noexcept { return changes_.stopping(); }
  /// Calls the `reload()` of all that have started and have one. Who fails is logged; the others
  /// are called all the same.
  void reload();
  /// What the services' `connections()` add up to; nothing if none of them has that.
  [[nodiscard]] std::optional<std::size_t> connections();

 private:
  [[nodiscard]] void* resolve(detail::interface_key& interface);

  detail::service_graph graph_;
  detail::service_changes changes_{graph_};
};

}  // namespace weft

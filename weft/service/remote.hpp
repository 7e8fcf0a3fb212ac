// Calling a service that lives on one shard from all others.
//
// Problem: some services exist once, and a reference to one is of no use on another thread.
// Contract: `app.add<T>().single()` makes one T, on shard 0; on every shard a constructor may ask
// for `remote<T>&`, and shard 0's for `T&`; with `.as<I>()`, for `remote<I>&` and `I&`. `co_await
// remote.call(&T::method, arguments...)` runs the method there, as on() does (loop/on.hpp), and
// gives what it gives as a result: result<R> for R, result<R>, task<R> and task<result<R>>.
// Arguments become the method's parameters at the call and are moved there, so a method takes
// values that own what they hold, in memory of no shard's own (a std::string, not an owned_text).
// The caller's deadline and stop request hold there too. errc::closed: T has not been started
// there, or stops; a call under way is awaited before T stops, so none ends in the midst. Calls of
// one shard begin in the order in which they were made. A remote<T> is read by any thread.
//
//   explicit order_api(remote<order_book>& orders);
//   result<order> found = co_await orders.call(&order_book::find, id);
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/call_result.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/on.hpp>
#include <weft/service/container.hpp>
#include <weft/service/interface_key.hpp>
#include <weft/service/lifetime.hpp>

namespace weft {

namespace detail {

/// A service that its shard lets others call. Internal.
class remote_target {
 public:
  remote_target(const interface_key& interface, void* object, lifetime& own) noexcept
      : interface_{&interface}, object_{object}, own_{&own} {}
  remote_target(const remote_target&) = delete;
  remote_target& operator=(const remote_target&) = delete;
  ~remote_target() { close(); }

  /// From now on it is found by calls that come to `loop`, which this thread runs.
  void open(const event_loop& loop) noexcept;
  /// And from now on it is not.
  void close() noexcept;

  /// Of this thread's loop; nullptr: it is not there.
  [[nodiscard]] static remote_target* find(const interface_key& interface) noexcept;

  [[nodiscard]] void* object() const noexcept { return object_; }
  /// Kept while a call is under way.
  [[nodiscard]] lifetime& owner() const noexcept { return *own_; }

 private:
  const interface_key* interface_;
  void* object_;
  lifetime* own_;
  const event_loop* loop_ = nullptr;  // while it is open
  remote_target* next_ = nullptr;     // of this thread's
};

template <class T>
inline constexpr bool is_view = false;
template <class C, class Traits>
inline constexpr bool is_view<std::basic_string_view<C, Traits>> = true;
template <class T, std::size_t Extent>
inline constexpr bool is_view<std::span<T, Extent>> = true;

/// Of a method: what a call of it keeps, in a tuple.
template <class... P>
struct kept_arguments {
  static constexpr bool are_values = (!std::is_reference_v<P> && ...);
  static constexpr bool own = (!is_view<P> && ...);
  static constexpr bool may_cross = (!requires { typename P::stays_on_its_shard; } && ...);
  using type = std::tuple<std::remove_reference_t<P>...>;
};
template <class Method>
struct arguments_of : kept_arguments<> {};
template <class R, class T, class... P>
struct arguments_of<R (T::*)(P...)> : kept_arguments<P...> {};
template <class R, class T, class... P>
struct arguments_of<R (T::*)(P...) const> : kept_arguments<P...> {};
template <class R, class T, class... P>
struct arguments_of<R (T::*)(P...) noexcept> : kept_arguments<P...> {};
template <class R, class T, class... P>
struct arguments_of<R (T::*)(P...) const noexcept> : kept_arguments<P...> {};

/// A call, over there: its arguments are the caller's until they are moved into the method.
template <class T, class Method, class Arguments>
struct method_call;
template <class T, class Method, class... A>
struct method_call<T, Method, std::tuple<A...>> {
  using given = std::invoke_result_t<Method, T&, A...>;
  using outcome = typename as_result<typename unwrapped_task<given>::type>::type;

  /// What it gives itself is a task exactly if the method's is.
  auto operator()() {
    if constexpr (unwrapped_task<given>::is_task)
      return wait(*this);
    else
      return now();
  }

  given invoke(remote_target& target) {
    T& object = *static_cast<T*>(target.object());
    return std::apply([&](A&... each) -> given { return (object.*method)(std::move(each)...); },
                      arguments);
  }
  [[nodiscard]] outcome now() {
    remote_target* const target = remote_target::find(key_of<T>);
    if (target == nullptr) return fail(errc::closed);
    if constexpr (std::is_void_v<given>) {
      invoke(*target);
      return {};
    } else {
      return invoke(*target);
    }
  }
  [[nodiscard]] static task<outcome> wait(method_call& call) {
    remote_target* const target = remote_target::find(key_of<T>);
    if (target == nullptr) co_return fail(errc::closed);
    const lifetime::use in_use{target->owner()};
    const environment& asking = co_await this_task::environment();
    environment for_service = asking;
    for_service.owner = &target->owner();
    for_service.called_by = &asking;
    if constexpr (std::is_void_v<typename unwrapped_task<given>::type>) {
      co_await call.invoke(*target).in(for_service);
      co_return outcome{};
    } else {
      co_return co_await call.invoke(*target).in(for_service);
    }
  }

  Method method;
  std::tuple<A...> arguments;
};

}  // namespace detail

template <class T>
class remote {
 public:
  explicit constexpr remote(unsigned shard) noexcept : shard_{shard} {}

  /// Where T lives.
  [[nodiscard]] unsigned shard() const noexcept { return shard_; }

  template <class Method, class... A>
  [[nodiscard]] auto call(Method method, A&&... arguments) const {
    static_assert(std::is_member_function_pointer_v<Method>,
                  "call() names a method: `co_await orders.call(&order_book::find, id)`");
    using kept = detail::arguments_of<Method>;
    static_assert(kept::are_values,
                  "what a method is given crosses to another shard: let it take its parameters by "
                  "value, not by reference");
    static_assert(kept::own,
                  "what a method is given crosses to another shard: let it take what owns its "
                  "memory, such as a std::string, not a view");
    static_assert(kept::may_cross,
                  "what a method is given crosses to another shard: let it take a std::string, not "
                  "an owned_text, whose memory is its shard's, nor what else stays_on_its_shard");
    static_assert(std::is_invocable_v<Method, T&, std::decay_t<A>...>,
                  "the arguments of call() are those that the method takes");
    static_assert(!std::is_reference_v<std::invoke_result_t<Method, T&, std::decay_t<A>...>>,
                  "what a method gives crosses back to another shard: let it return a value, not a "
                  "reference");
    return on(shard_, detail::method_call<T, Method, typename kept::type>{
                          method, {std::forward<A>(arguments)...}});
  }

 private:
  unsigned shard_;
};

namespace detail {

/// Where a service lives of which there is one.
inline constexpr unsigned single_shard = 0;
/// What all other shards call it by.
template <class T>
inline constinit remote<T> remote_to_single{single_shard};

/// What lets a T be called: a service that needs it, and so ends before it. On T's own shard it is
/// the remote<T>, too: so whoever calls T there starts after it, and stops before.
template <class T>
class remote_offer : public remote<T> {
 public:
  remote_offer(T& offered, event_loop& loop, lifetime& own)
      : remote<T>{loop.shard()}, target_{key_of<T>, &offered, own}, loop_{loop} {}
  void start() noexcept { target_.open(loop_); }
  void stop() noexcept { target_.close(); }

 private:
  remote_target target_;
  event_loop& loop_;
};

/// What shards have for calling the one service as a certain interface.
struct single_access {
  void (*give_here)(container& services, service_handle single);
  void (*give_elsewhere)(container& services);
};

template <class I>
inline constexpr single_access single_access_of{
    [](container& services, service_handle single) {
      services.add<remote_offer<I>>().template as<remote<I>>().template bind<I>(single);
    },
    [](container& services) { services.provide(remote_to_single<I>); }};

}  // namespace detail

}  // namespace weft

// The same change on all shards, by one call.
//
// Problem: a service is there once on each shard, and each shard has a container of its own; who
// wants it restarted would have to go round. Contract: a constructor in an application may ask for
// `everywhere&`. A T is named by its type, or an interface that it is, and its name, if it has one.
// Each call is carried out on this shard first; if that goes well, or there is no T here, on all
// others at once, by what a container's function of that name does. A service that would end
// itself is refused here, before others begin. The result is the first failure, by shard, when all
// have answered: where it went well, that stays. errc::not_found: no shard has a T; errc::closed: a
// shard's services have not started yet, or stop. The deadline and the stop request of who asks
// hold on all shards. Of one shard.
//
//   explicit admin(weft::everywhere& shards);
//   auto anew = co_await shards.restart<order_api>();
//   auto more = co_await shards.add<file_store>({.file = "b.db"}, [](auto& added) {
//     added.template as<store>().named("b");
//   });
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/container.hpp>

namespace weft {

class everywhere {
 public:
  everywhere(container& services, event_loop& loop) noexcept : services_{services}, loop_{loop} {}
  everywhere(const everywhere&) = delete;
  everywhere& operator=(const everywhere&) = delete;
  ~everywhere() = default;

  /// Makes an everywhere known to `services`, which are those of a shard.
  static void provide_to(container& services);

  /// There is to be a T on each shard, from a copy of `options`; `say(service_builder<T>&)` says
  /// the rest. start() starts it.
  template <class T, class Say>
  [[nodiscard]] task<result<void>> add(options_of<T> options, Say say) {
    static_assert(std::copy_constructible<options_of<T>> && std::copy_constructible<Say>,
                  "what is added everywhere is copied to each shard: make it copyable");
    return on_each(std::make_shared<const addition<T, Say>>(std::move(options), std::move(say)));
  }
  template <class T>
  [[nodiscard]] task<result<void>> add(options_of<T> options = {}) {
    return add<T>(std::move(options), [](service_builder<T>&) {});
  }

  template <class T>
  [[nodiscard]] task<result<void>> start(std::string name = {}) {
    return change(&container::start, detail::key_of<T>, std::move(name));
  }
  template <class T>
  [[nodiscard]] task<result<void>> stop(std::string name = {}) {
    return change(&container::stop, detail::key_of<T>, std::move(name));
  }
  template <class T>
  [[nodiscard]] task<result<void>> restart(std::string name = {}) {
    return change(&container::restart, detail::key_of<T>, std::move(name));
  }
  template <class T>
  [[nodiscard]] task<result<void>> remove(std::string name = {}) {
    return change(&container::remove, detail::key_of<T>, std::move(name));
  }

 private:
  /// What every shard does. All of them read one object, at once.
  struct deed {
    virtual ~deed() = default;
    [[nodiscard]] virtual task<result<void>> on(container& services) const = 0;
  };
  using part = std::shared_ptr<const deed>;
  template <class T, class Say>
  struct addition final : deed {
    addition(options_of<T> with, Say say_of_it)
        : options{std::move(with)}, say{std::move(say_of_it)} {}
    [[nodiscard]] task<result<void>> on(container& services) const override {
      auto added = services.add<T>(options_of<T>{options});
      Say of_this{say};
      of_this(added);
      co_return result<void>{};
    }
    options_of<T> options;
    Say say;
  };
  struct change_by_name;
  using change_of_one = task<result<void>> (container::*)(service_handle);

  [[nodiscard]] task<result<void>> change(change_of_one what, detail::interface_key& interface,
                                          std::string name);
  [[nodiscard]] task<result<void>> on_each(part what);
  /// As others call it, from their shards.
  [[nodiscard]] task<result<void>> carry_out(part what);
  static task<void> ask(unsigned shard, part what, result<void>& answer);

  container& services_;
  event_loop& loop_;
};

}  // namespace weft

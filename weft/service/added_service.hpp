// What application::add() gives: what service_builder can be told, for the service of each shard.
//
// Contract: to be used up before application::run(). What is said is kept, and said on each shard
// to the builder there.
//
//   app.add<file_store>({.file = "orders.db"}).as<store>().named("orders");
//   app.add<order_book>().single();
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/unique_function.hpp>
#include <weft/service/remote.hpp>
#include <weft/service/service_builder.hpp>

namespace weft {

template <class T>
class added_service {
 public:
  /// Shards read it side by side.
  using sayings = std::vector<unique_function<void(service_builder<T>&)>>;

  /// As service_builder::as().
  template <class... I>
  added_service& as() {
    (single_->interfaces.push_back(&detail::single_access_of<I>), ...);
    return say([](service_builder<T>& builder) { builder.template as<I...>(); });
  }
  added_service& named(std::string name) {
    *name_ = name;
    return say([name = std::move(name)](service_builder<T>& builder) { builder.named(name); });
  }
  /// As service_builder::with(), of a copy for each shard.
  template <class P>
  added_service& with(P property) {
    return say(
        [property = std::move(property)](service_builder<T>& builder) { builder.with(property); });
  }
  /// As service_builder::instead_of().
  template <class I>
  added_service& instead_of(std::string name = {}) {
    return say([name = std::move(name)](service_builder<T>& builder) {
      builder.template instead_of<I>(name);
    });
  }
  added_service& per_consumer() {
    return say([](service_builder<T>& builder) { builder.per_consumer(); });
  }
  added_service& lazy() {
    return say([](service_builder<T>& builder) { builder.lazy(); });
  }
  /// Only where `wanted` says so, which each shard asks, side by side, once the options of all have
  /// been read: for one of several that the options choose from. They are read, and checked, of
  /// those that are left out, too.
  added_service& when(unique_function<bool()> wanted) {
    *wanted_ = std::move(wanted);
    return *this;
  }
  /// One T in all, on shard 0. All shards reach it by remote<T>&, or by a remote<I>& for each I
  /// that as<I>() says it is (remote.hpp).
  added_service& single() {
    single_->is_single = true;
    return *this;
  }

  /// What named() was told last; empty: nothing.
  [[nodiscard]] std::shared_ptr<const std::string> name() const noexcept { return name_; }
  [[nodiscard]] std::shared_ptr<sayings> said() const noexcept { return said_; }
  /// What when() was told; empty: it always is.
  [[nodiscard]] std::shared_ptr<unique_function<bool()>> wanted() const noexcept { return wanted_; }
  /// Of one in all: as what it is called.
  struct singleness {
    bool is_single = false;
    std::vector<const detail::single_access*> interfaces;
  };
  [[nodiscard]] std::shared_ptr<const singleness> single_as() const noexcept { return single_; }

  /// Adds to one shard what has been said.
  static void install(container& services, const options_of<T>& options, sayings& said,
                      const singleness& single) {
    std::vector<const detail::single_access*> interfaces = single.interfaces;
    if (interfaces.empty()) interfaces.push_back(&detail::single_access_of<T>);
    const bool is_here = services.find<event_loop>()->shard() == detail::single_shard;
    if (single.is_single && !is_here) {
      for (const detail::single_access* each : interfaces) each->give_elsewhere(services);
      return;
    }
    auto builder = services.add<T>(options);
    for (auto& each : said) each(builder);
    if (single.is_single)
      for (const detail::single_access* each : interfaces)
        each->give_here(services, builder.handle());
  }

 private:
  added_service& say(unique_function<void(service_builder<T>&)> what) {
    said_->push_back(std::move(what));
    return *this;
  }

  std::shared_ptr<std::string> name_ = std::make_shared<std::string>();
  std::shared_ptr<unique_function<bool()>> wanted_ = std::make_shared<unique_function<bool()>>();
  std::shared_ptr<sayings> said_ = std::make_shared<sayings>();
  std::shared_ptr<singleness> single_ = std::make_shared<singleness>();
};

}  // namespace weft

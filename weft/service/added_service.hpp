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
    return say([](service_builder<T>& builder) { builder.template as<I...>(); });
  }
  added_service& named(std::string name) {
    *name_ = name;
    return say([name = std::move(name)](service_builder<T>& builder) { builder.named(name); });
  }
  added_service& per_consumer() {
    return say([](service_builder<T>& builder) { builder.per_consumer(); });
  }
  added_service& lazy() {
    return say([](service_builder<T>& builder) { builder.lazy(); });
  }
  /// One T in all, on shard 0. All shards reach it by remote<T>& (remote.hpp).
  added_service& single() {
    *offer_ = &detail::offer_single<T>;
    return *this;
  }

  /// What named() was told last; empty: nothing.
  [[nodiscard]] std::shared_ptr<const std::string> name() const noexcept { return name_; }
  [[nodiscard]] std::shared_ptr<sayings> said() const noexcept { return said_; }
  /// What single() was told: has it called from here, and says whether it is made here.
  using offer = bool (*)(container&);
  /// nullptr: it is not single.
  [[nodiscard]] std::shared_ptr<const offer> offered() const noexcept { return offer_; }

 private:
  added_service& say(unique_function<void(service_builder<T>&)> what) {
    said_->push_back(std::move(what));
    return *this;
  }

  std::shared_ptr<std::string> name_ = std::make_shared<std::string>();
  std::shared_ptr<sayings> said_ = std::make_shared<sayings>();
  std::shared_ptr<offer> offer_ = std::make_shared<offer>(nullptr);
};

}  // namespace weft

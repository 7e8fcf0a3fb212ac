// What container::add() gives: the rest that is to be said of a service before it is made.
//
// Contract: a reference to the container's record; to be used up before start(). Each call says one
// thing and gives the same builder. Wrong use does not compile, or asserts.
//
//   services.add<file_store>({.file = "orders.db"}).as<store>().named("orders");
//   services.add<spd_logger>().as<logger>().per_consumer();
//   services.add<file_store>().as<store>().with(region{"eu"});
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/service/injection.hpp>
#include <weft/service/service_graph.hpp>

namespace weft {

namespace detail {

template <class I, class Needs>
inline constexpr bool asks_for = false;
template <class I, class... P>
inline constexpr bool asks_for<I, dependencies<P...>> =
    std::disjunction_v<std::bool_constant<parameter<P>::kind.interface == &key_of<I>>...>;

}  // namespace detail

template <class T>
class service_builder {
 public:
  service_builder(detail::service_graph& graph, detail::service_record& record,
                  service_handle handle) noexcept
      : graph_{&graph}, record_{&record}, handle_{handle} {}

  /// It is what `I&` means, for each of them, and not what `T&` means unless T is among them.
  template <class... I>
  service_builder& as() {
    static_assert((std::is_convertible_v<T*, I*> && ...),
                  "as<I>() names what the service is: it derives publicly from each I");
    (graph_->provide_as(*record_, detail::key_of<I>, &cast<I>), ...);
    return *this;
  }
  /// weft::named<T, "name"> means this one. Names are not empty, and no two T have the same.
  service_builder& named(std::string_view name) {
    graph_->name(*record_, name);
    return *this;
  }
  /// A property, which filters read (service_info.hpp): a plain struct, one of each type; what is
  /// said last counts.
  template <class P>
  service_builder& with(P property) {
    static_assert(
        std::is_class_v<P>,
        "a property is a struct of its own, by which it is found: `with(region{\"eu\"})`");
    record_->properties = std::make_unique<detail::service_property_of<P>>(
        std::move(property), std::move(record_->properties));
    return *this;
  }
  /// Each who needs it gets one of its own, which may ask for weft::consumer to know who that is.
  service_builder& per_consumer() {
    static_assert(std::is_copy_constructible_v<options_of<T>>,
                  "options of a service that is per consumer are copied for each: make them "
                  "copyable, or let them share what is not");
    graph_->make_per_consumer(*record_);
    return *this;
  }
  /// Made when somebody needs it who has all else, and stopped and destroyed at the end of the
  /// change in which the last of those ends, until the next one comes.
  service_builder& lazy() {
    graph_->make_lazy(*record_);
    return *this;
  }
  /// For tests: it is the I of this name, or the one that `I&` means, in place of who has been
  /// added as that, before or after, for all who need it, and by its handle. Who is nothing else
  /// is not made. Comes to pass when services are first made; start() fails if there is nobody to
  /// replace.
  template <class I>
  service_builder& instead_of(std::string_view name = {}) {
    static_assert(std::is_convertible_v<T*, I*>,
                  "instead_of<I>() takes the place of an I: derive publicly from it");
    graph_->stand_in(*record_, detail::key_of<I>, &cast<I>, name);
    return *this;
  }
  /// The next of its parameters `I&` or maybe<I> that is not bound yet means `provider`, which is
  /// of the same container and an I.
  template <class I>
  service_builder& bind(service_handle provider) {
    static_assert(detail::asks_for<I, detail::parameters_of<T>>,
                  "bind<I>() is for what the constructor asks for: `I&` or weft::maybe<I>");
    graph_->bind(*record_, detail::key_of<I>, provider);
    return *this;
  }

  [[nodiscard]] service_handle handle() const noexcept { return handle_; }

 private:
  template <class I>
  static void* cast(void* object) noexcept {
    return static_cast<I*>(static_cast<T*>(object));
  }

  detail::service_graph* graph_;
  detail::service_record* record_;
  service_handle handle_;
};

}  // namespace weft

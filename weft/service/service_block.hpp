// Internal to the container: a service of type T with all that belongs to it, in one allocation,
// and what the container can do with it without knowing T.
//
// Contract: the T is made by kind_of<T>.make and ended by kind_of<T>.destroy; the block itself by
// release. Options stay, so that the service can be made again; those that cannot be copied are
// gone with the first.
//
//   service_record* added = new service_block<ping_api>{kind_of<ping_api>, {}};
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <weft/service/injection.hpp>
#include <weft/service/service_record.hpp>

namespace weft::detail {

/// Whether a parameter is looked for among the services; else the record itself gives it.
template <class P>
inline constexpr bool is_looked_for = parameter<P>::kind.interface != nullptr;

template <class Needs>
struct need_table;
template <class... P>
struct need_table<dependencies<P...>> {
  static constexpr std::size_t count = (std::size_t{is_looked_for<P>} + ... + 0);

  /// Where in the table the parameter stands that has so many before it.
  static constexpr std::size_t place_of(std::size_t parameters_before) {
    [[maybe_unused]] std::size_t left = parameters_before;
    std::size_t place = 0;
    ((left == 0 ? void() : (--left, void(place += std::size_t{is_looked_for<P>}))), ...);
    return place;
  }

  static constexpr std::array<need_kind, count> kinds = [] {
    std::array<need_kind, count> found{};
    [[maybe_unused]] std::size_t next = 0;
    ((is_looked_for<P> ? void(found[next++] = parameter<P>::kind) : void()), ...);
    return found;
  }();
};

/// An array, but of no size if there are none.
template <std::size_t Count>
struct needs_in_block {
  std::array<need, Count> all{};
};
template <>
struct needs_in_block<0> {
  static constexpr std::span<need> all{};
};

template <class T>
class service_block final : public service_record {
 public:
  service_block(const service_kind& of, options_of<T> options)
      : service_record{of, key_of<T>}, options_{std::move(options)} {
    adopt(needs_.all);
  }
  service_block(const service_block&) = delete;
  service_block& operator=(const service_block&) = delete;
  ~service_block() {}  // NOLINT: destroy() has ended the object

  static void* make(service_record& record) {
    return static_cast<service_block&>(record).construct(parameters_of<T>{});
  }
  static void destroy(service_record& record) noexcept {
    static_cast<service_block&>(record).object_.~T();
  }
  static void release(service_record& record) noexcept {
    delete static_cast<service_block*>(&record);
  }
  static service_record* copy(const service_record& record) {
    return new service_block{*record.kind, static_cast<const service_block&>(record).options_};
  }

 private:
  using table = need_table<parameters_of<T>>;

  template <class... P>
  void* construct(dependencies<P...>) {
    return construct_at<P...>(std::index_sequence_for<P...>{});
  }
  template <class... P, std::size_t... I>
  void* construct_at(std::index_sequence<I...>) {
    if constexpr (takes_options_before<T, dependencies<P...>>)
      return ::new (static_cast<void*>(&object_))
          T{give_options(), argument<P, table::place_of(I)>()...};
    else
      return ::new (static_cast<void*>(&object_)) T{argument<P, table::place_of(I)>()...};
  }
  template <class P, std::size_t Place>
  decltype(auto) argument() noexcept {
    if constexpr (is_looked_for<P>)
      return parameter<P>::from(*this, needs_.all[Place]);
    else
      return parameter<P>::from(*this);
  }
  options_of<T> give_options() {
    if constexpr (std::copy_constructible<options_of<T>>)
      return options_;
    else
      return std::move(options_);
  }

  [[no_unique_address]] needs_in_block<table::count> needs_;
  [[no_unique_address]] options_of<T> options_;
  union {
    T object_;
  };
};

/// `call`, in the shape that fits what it gives.
template <class Call>
constexpr service_step step_of(Call) {
  using given = std::invoke_result_t<Call, void*>;
  service_step step;
  if constexpr (std::is_void_v<given>) {
    step.now = [](void* self) {
      Call{}(self);
      return result<void>{};
    };
  } else if constexpr (std::is_same_v<given, result<void>>) {
    step.now = Call{};
  } else {
    static_assert(
        std::is_same_v<given, task<result<void>>>,
        "start() and stop() give void, weft::result<void> or weft::task<weft::result<void>>");
    if constexpr (std::is_same_v<given, task<result<void>>>) step.later = Call{};
  }
  return step;
}

template <class T>
consteval service_kind make_kind() {
  static_assert(!std::is_abstract_v<T>,
                "a T is made, so name the class that implements it: "
                "`add<file_store>().as<store>()`");
  using block = service_block<T>;
  service_kind kind;
  kind.name = type_name<T>;
  using table = need_table<parameters_of<T>>;
  kind.needs = table::kinds.data();
  kind.need_count = table::count;
  kind.make = &block::make;
  if constexpr (!std::is_trivially_destructible_v<T>) kind.destroy = &block::destroy;
  kind.release = &block::release;
  if constexpr (std::copy_constructible<options_of<T>>) kind.copy = &block::copy;
  if constexpr (requires(T& self) { self.start(); })
    kind.start = step_of([](void* self) { return static_cast<T*>(self)->start(); });
  if constexpr (requires(T& self) { self.stop(); })
    kind.stop = step_of([](void* self) { return static_cast<T*>(self)->stop(); });
  if constexpr (requires(const T& self) {
                  { self.connections() } -> std::convertible_to<std::size_t>;
                })
    kind.connections = [](const void* self) -> std::size_t {
      return static_cast<const T*>(self)->connections();
    };
  if constexpr (requires(T& self) { self.reload(); }) {
    static_assert(std::is_same_v<decltype(std::declval<T&>().reload()), result<void>>,
                  "reload() gives weft::result<void>, at once");
    kind.reload = [](void* self) { return static_cast<T*>(self)->reload(); };
  }
  return kind;
}

template <class T>
inline constexpr service_kind kind_of = make_kind<T>();

/// What the container did not make.
template <class T>
inline constexpr service_kind lent_kind{
    .name = type_name<T>, .release = [](service_record& record) noexcept { delete &record; }};

}  // namespace weft::detail

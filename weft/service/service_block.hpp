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
#include <type_traits>
#include <utility>

#include <weft/service/injection.hpp>
#include <weft/service/service_record.hpp>

namespace weft::detail {

template <class Needs>
inline constexpr std::size_t need_count = 0;
template <class... P>
inline constexpr std::size_t need_count<dependencies<P...>> = sizeof...(P);

template <class T>
class service_block final : public service_record {
 public:
  service_block(const service_kind& of, options_of<T> options)
      : service_record{of, key_of<T>}, options_{std::move(options)} {
    adopt(needs_);
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
  template <class... P>
  void* construct(dependencies<P...>) {
    return construct_at<P...>(std::index_sequence_for<P...>{});
  }
  template <class... P, std::size_t... I>
  void* construct_at(std::index_sequence<I...>) {
    if constexpr (takes_options_before<T, dependencies<P...>>)
      return ::new (static_cast<void*>(&object_))
          T{give_options(), parameter<P>::from(*this, needs_[I])...};
    else
      return ::new (static_cast<void*>(&object_)) T{parameter<P>::from(*this, needs_[I])...};
  }
  options_of<T> give_options() {
    if constexpr (std::copy_constructible<options_of<T>>)
      return options_;
    else
      return std::move(options_);
  }

  std::array<need, need_count<parameters_of<T>>> needs_{};
  [[no_unique_address]] options_of<T> options_;
  union {
    T object_;
  };
};

template <class Needs>
struct need_table;
template <class... P>
struct need_table<dependencies<P...>> {
  static constexpr std::array<need_kind, sizeof...(P)> kinds{parameter<P>::kind...};
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
  kind.needs = need_table<parameters_of<T>>::kinds.data();
  kind.need_count = need_count<parameters_of<T>>;
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
  return kind;
}

template <class T>
inline constexpr service_kind kind_of = make_kind<T>();

/// What the container did not make.
template <class T>
inline constexpr service_kind lent_kind{
    .name = type_name<T>, .release = [](service_record& record) noexcept { delete &record; }};

}  // namespace weft::detail

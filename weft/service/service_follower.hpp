// Internal to the container: somebody who is told which services of an interface come and go.
//
// Contract: one for each container::track(), in the list of the interface's slot; what its
// functions throw is logged, and goes no further. What they register belongs to its service, if it
// has one.
//
//   slot.followers->for_each<service_follower>([&](service_follower& each) { each.came(one); });
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <weft/service/event_listener.hpp>
#include <weft/service/service_info.hpp>
#include <weft/service/service_record.hpp>

namespace weft::detail {

class service_follower : public event_listener {
 public:
  /// `departures`: how many there had been when it began to follow.
  explicit service_follower(std::uint64_t departures) noexcept : departures_{departures} {}

  void came(const provision& one) noexcept { tell(one, one.object, true); }
  /// `departure`: the how manieth it is. Who began to follow in its midst has not heard of those
  /// who leave in it.
  void goes(const provision& one, void* object, std::uint64_t departure) noexcept {
    if (departures_ < departure) tell(one, object, false);
  }

 private:
  virtual void call(void* object, const service_info& of, bool has_come) = 0;
  void tell(const provision& one, void* object, bool has_come) noexcept;

  std::uint64_t departures_;
};

template <class F, class I>
inline constexpr bool hears_of =
    std::is_invocable_r_v<void, F&, I&> || std::is_invocable_r_v<void, F&, I&, const service_info&>;

template <class F, class I>
void tell_to(F& f, I& one, const service_info& of) {
  constexpr bool with_info = std::is_invocable_v<F&, I&, const service_info&>;
  const auto told = [&] {
    if constexpr (with_info)
      return f(one, of);
    else
      return f(one);
  };
  static_assert(std::is_void_v<decltype(told())>,
                "what track() calls gives nothing: what waits is a task of the service's lifetime, "
                "`own.spawn(f(one))`");
  told();
}

template <class I, class Filter, class Added, class Removed>
class service_follower_of final : public service_follower {
 public:
  service_follower_of(std::uint64_t departures, Filter takes, Added added, Removed removed)
      : service_follower{departures},
        takes_{std::move(takes)},
        added_{std::move(added)},
        removed_{std::move(removed)} {}

 private:
  void call(void* object, const service_info& of, bool has_come) override {
    if (!takes_(of)) return;
    if (has_come)
      tell_to(added_, *static_cast<I*>(object), of);
    else
      tell_to(removed_, *static_cast<I*>(object), of);
  }

  Filter takes_;
  Added added_;
  Removed removed_;
};

}  // namespace weft::detail

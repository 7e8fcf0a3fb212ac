// The fingerprint of a simulated run: two runs that did the same in the same order have the same.
//
// Contract: fed with numbers only, never with addresses or what a library leaves open, so that the
// value is one for all compilers, libraries and optimisation levels. One thread.
//
//   trace.note(kind, when_ns, slot, value);
//   if (trace.value() != recorded) ...
#pragma once

#include <bit>
#include <cstdint>

namespace weft {

class sim_trace {
 public:
  template <class... Numbers>
  void note(Numbers... numbers) noexcept {
    (add(static_cast<std::uint64_t>(numbers)), ...);
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  void add(std::uint64_t number) noexcept {
    value_ = std::rotl((value_ ^ number) * 0x9e3779b97f4a7c15, 29);
  }
  std::uint64_t value_ = 0x243f6a8885a308d3;  // the first bits of pi
};

}  // namespace weft

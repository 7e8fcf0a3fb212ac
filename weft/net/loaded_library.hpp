// A shared library that is loaded when it is first needed, and may be missing.
//
// Problem: a feature that few programs use should not make its library a dependency of all of them.
// Contract: internal to weft. A library stays loaded until the process ends. The system's search
// path applies. A program linked with -static loads none: it has no loader, and a C library of its
// own. Any thread. Loading reads files and may take milliseconds.
//
//   const auto idn = loaded_library::load("libidn2.so.0");
//   if (idn) auto* const lookup = idn->function<int(const char*)>("idn2_lookup_u8");
#pragma once

#include <expected>
#include <string_view>

namespace weft::net {

class loaded_library {
 public:
  /// The error is a clause for people, in static storage.
  [[nodiscard]] static std::expected<loaded_library, std::string_view> load(
      const char* file) noexcept;

  /// nullptr: it has none of that name.
  template <class F>
  [[nodiscard]] F* function(const char* name) const noexcept {
    return reinterpret_cast<F*>(address_of(name));
  }

 private:
  explicit loaded_library(void* handle) noexcept : handle_{handle} {}
  [[nodiscard]] void* address_of(const char* name) const noexcept;

  void* handle_;
};

}  // namespace weft::net

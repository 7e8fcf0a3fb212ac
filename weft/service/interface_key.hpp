// Which interface is meant: a type's name, and a small number that is its place in tables.
//
// Problem: a look-up by type must not hash a name each time. Contract: each type has one key per
// program, whose address names it; number_of() gives the number, from 0 upwards without gaps, in
// the order in which types are first asked for. Any thread.
//
//   detail::number_of(detail::key_of<http::server>)    // 0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include <weft/service/type_name.hpp>

namespace weft::detail {

struct interface_key {
  std::string_view name;
  std::atomic<std::uint32_t> number_and_one{0};  // 0: nobody has asked yet
};

template <class T>
inline constinit interface_key key_of{type_name<T>};

[[nodiscard]] std::uint32_t new_number(interface_key& key) noexcept;

[[nodiscard]] inline std::uint32_t number_of(interface_key& key) noexcept {
  const std::uint32_t known = key.number_and_one.load(std::memory_order_relaxed);
  return known != 0 ? known - 1 : new_number(key);
}

}  // namespace weft::detail

// Which operations of a batch ask for the row of a key.
//
// Problem: rows come in the server's order, and each is to be found among a hundred operations.
// Contract: of 128 operations at most, whose keys stay. A key is found as it is spelled: of two
// texts that only the server takes for the same one is not found. Integers are the same whatever
// their signs' types, and so are texts and bytes. Allocates nothing.
//
//   const key_index wanted{operations, asked};
//   wanted.for_each(row.first(key_size), [&](std::size_t operation) { keep(operation, row); });
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <weft/store/engine.hpp>

namespace weft::store::mysql {

class key_index {
 public:
  static constexpr std::size_t operations_max = 128;

  /// `asked`: those of the operations that there are to find, by their numbers.
  key_index(std::span<const key_read> operations, std::span<const std::size_t> asked) noexcept;

  /// Calls `found` with the number of each operation that asks for it, in their order.
  template <class Found>
  void for_each(std::span<const value> key, Found found) const {
    for (std::size_t at = place_of(key); slots_[at] != nobody; at = (at + 1) % slots_max) {
      const std::size_t operation = asked_[slots_[at]];
      if (is_same(operations_[operation].key, key)) found(operation);
    }
  }

 private:
  static constexpr std::size_t slots_max = 2 * operations_max;  // so that runs are short
  static constexpr std::uint8_t nobody = 0xFF;

  [[nodiscard]] static std::size_t place_of(std::span<const value> key) noexcept;
  [[nodiscard]] static bool is_same(std::span<const value> left,
                                    std::span<const value> right) noexcept;

  std::span<const key_read> operations_;
  std::span<const std::size_t> asked_;
  std::array<std::uint8_t, slots_max> slots_;  // places in asked_
};

}  // namespace weft::store::mysql

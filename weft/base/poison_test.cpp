#include <weft/base/poison.hpp>

#include <gtest/gtest.h>

namespace {

alignas(16) std::byte memory[64];

TEST(poison, marks_exactly_the_range_while_address_sanitizer_watches) {
  weft::poison(memory + 16, 32);
  EXPECT_FALSE(weft::is_poisoned(memory + 15));
  EXPECT_EQ(weft::is_poisoned(memory + 16), WEFT_ADDRESS_SANITIZER == 1);
  EXPECT_EQ(weft::is_poisoned(memory + 47), WEFT_ADDRESS_SANITIZER == 1);
  EXPECT_FALSE(weft::is_poisoned(memory + 48));
  weft::unpoison(memory + 16, 32);
  EXPECT_FALSE(weft::is_poisoned(memory + 16));
  EXPECT_FALSE(weft::is_poisoned(memory + 47));
}

}  // namespace

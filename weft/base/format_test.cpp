#include <weft/base/format.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

TEST(format, says_what_std_format_says) {
  const std::string name = "weft";
  EXPECT_EQ(weft::format("{} {:>4} {:#x} {:.2f} {}", name, 7, 255, 1.5, true),
            std::format("{} {:>4} {:#x} {:.2f} {}", name, 7, 255, 1.5, true));
}

TEST(format, takes_temporaries) {
  EXPECT_EQ(weft::format("{0}{1}{0}", std::string("a"), 'b'), "aba");
}

TEST(format, refuses_a_text_that_does_not_fit_its_values) {
  const int value = 1;
  EXPECT_THROW(static_cast<void>(weft::vformat("{} {}", std::make_format_args(value))),
               std::format_error);
}

}  // namespace
}  // namespace weft

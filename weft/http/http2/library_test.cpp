#include <weft/http/http2/library.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace weft::http::http2 {
namespace {

TEST(http2_memory, is_moved_with_what_it_holds) {
  nghttp2_mem& memory = *pooled_memory();
  char* text = static_cast<char*>(memory.malloc(3, nullptr));
  text[0] = 'a';
  text = static_cast<char*>(memory.realloc(text, 10'000, nullptr));
  EXPECT_EQ(text[0], 'a');
  text = static_cast<char*>(memory.realloc(text, 1, nullptr));
  EXPECT_EQ(text[0], 'a');
  memory.free(text, nullptr);
  memory.free(nullptr, nullptr);
  const auto* const zeroed = static_cast<const char*>(memory.calloc(10, 10, nullptr));
  EXPECT_EQ(std::string_view(zeroed, 100), std::string_view(std::string(100, '\0')));
  memory.free(const_cast<char*>(zeroed), nullptr);  // NOLINT
  EXPECT_EQ(memory.calloc(SIZE_MAX, 2, nullptr), nullptr);
}

}  // namespace
}  // namespace weft::http::http2

#include <weft/http/websocket/close_code.hpp>

#include <gtest/gtest.h>

namespace weft::http::ws {
namespace {

TEST(websocket_close_code, says_which_may_be_sent) {
  EXPECT_TRUE(may_be_sent(close_code::normal));
  EXPECT_TRUE(may_be_sent(close_code{3000}));
  EXPECT_TRUE(may_be_sent(close_code{4999}));
  for (const unsigned number : {0U, 999U, 1004U, 1005U, 1006U, 1015U, 2999U, 5000U})
    EXPECT_FALSE(may_be_sent(static_cast<close_code>(number))) << number;
}

}  // namespace
}  // namespace weft::http::ws

#include <weft/store/mysql/server_choice.hpp>

#include <chrono>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace weft::store::mysql {
namespace {

using std::chrono::milliseconds;

constexpr time_point noon{std::chrono::hours{1}};

class mysql_server_choice : public ::testing::Test {
 protected:
  /// The names of those that may be tried at `now`, in their order.
  [[nodiscard]] std::string open(time_point now = noon) const {
    std::string names;
    for (std::size_t place = 0; place < servers_.size(); ++place)
      if (servers_.may_try(place, now)) names += servers_.at(place).text().substr(0, 1);
    EXPECT_EQ(servers_.may_try_any(now), !names.empty());
    return names;
  }

  server_choice servers_{
      {*server_address::parse("a:1"), *server_address::parse("b:1"), *server_address::parse("c:1")},
      milliseconds{100},
      milliseconds{1000},
      7};
};

TEST_F(mysql_server_choice, begins_with_the_first_and_stays_with_what_it_has) {
  EXPECT_EQ(open(), "abc");
  servers_.failed(0, noon);
  EXPECT_EQ(open(), "bc");
  servers_.succeeded(1);
  EXPECT_EQ(open(), "b");
  EXPECT_EQ(open(noon + milliseconds{200}), "b") << "the first is back, but nothing is wrong";
}

TEST_F(mysql_server_choice, one_that_is_given_up_has_its_turn_after_its_pause) {
  servers_.succeeded(1);
  servers_.give_up();
  servers_.failed(0, noon);
  EXPECT_EQ(open(), "ca");
  EXPECT_EQ(open(noon + milliseconds{200}), "bca");
}

TEST_F(mysql_server_choice, one_that_is_full_is_not_given_up) {
  servers_.succeeded(0);
  servers_.failed(0, noon);
  EXPECT_EQ(open(), "");
  EXPECT_EQ(open(noon + milliseconds{200}), "a");
}

TEST_F(mysql_server_choice, all_may_have_failed) {
  for (std::size_t place = 0; place < 3; ++place) servers_.failed(place, noon);
  EXPECT_EQ(open(), "");
  EXPECT_EQ(open(noon + milliseconds{100}), "abc");
}

}  // namespace
}  // namespace weft::store::mysql

#include <weft/store/mysql/server_errors.hpp>

#include <gtest/gtest.h>

namespace weft::store::mysql {
namespace {

TEST(mysql_server_errors_test, tells_the_server_from_the_way_to_it) {
  for (const unsigned number : {1045U, 1062U, 1927U, 3024U, 3819U, 4025U})
    EXPECT_TRUE(is_of_server(number)) << number;
  for (const unsigned number : {0U, 2002U, 2006U, 2013U, 2026U, 5014U})
    EXPECT_FALSE(is_of_server(number)) << number;
}

TEST(mysql_server_errors_test, says_what_callers_branch_on) {
  EXPECT_EQ(kind_of(1062), failure_kind::duplicate_key);
  EXPECT_EQ(kind_of(1452), failure_kind::constraint);
  EXPECT_EQ(kind_of(1146), failure_kind::schema_changed);
  EXPECT_EQ(kind_of(1213), failure_kind::busy);
  EXPECT_EQ(kind_of(1290), failure_kind::read_only);
  EXPECT_EQ(kind_of(1114), failure_kind::full);
  EXPECT_EQ(kind_of(1999), failure_kind::other);
  EXPECT_EQ(kind_of(2013), failure_kind::input_output);
  EXPECT_EQ(code_of(1213), errc::unavailable);
  EXPECT_EQ(code_of(1114), errc::exhausted);
  EXPECT_EQ(code_of(1064), errc::invalid_argument);
  EXPECT_EQ(code_of(2013), errc::reset);
  EXPECT_EQ(code_of(2003), errc::unavailable);
}

TEST(mysql_server_errors_test, a_statement_that_fails_does_not_end_the_connection) {
  EXPECT_FALSE(ends_connection(1062));
  EXPECT_FALSE(ends_connection(1205));
  EXPECT_TRUE(ends_connection(1927));
  EXPECT_TRUE(ends_connection(1053));
  EXPECT_TRUE(ends_connection(2013));
}

}  // namespace
}  // namespace weft::store::mysql

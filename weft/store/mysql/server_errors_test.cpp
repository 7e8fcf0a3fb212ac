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
  for (const unsigned number : {1416U, 3140U, 3157U, 3643U, 3988U, 6136U})
    EXPECT_EQ(kind_of(number), failure_kind::constraint) << number;
  EXPECT_EQ(kind_of(1146), failure_kind::schema_changed);
  EXPECT_EQ(kind_of(1213), failure_kind::busy);
  EXPECT_EQ(kind_of(1290), failure_kind::read_only);
  EXPECT_EQ(kind_of(1114), failure_kind::full);
  EXPECT_EQ(kind_of(1999), failure_kind::other);
  EXPECT_EQ(kind_of(2013), failure_kind::input_output);
  for (const unsigned number : {1365U, 1367U, 1416U, 1526U, 1690U, 3140U})
    EXPECT_EQ(kind_of(number), failure_kind::constraint) << number;
  for (const unsigned number : {1153U, 2020U})
    EXPECT_EQ(kind_of(number), failure_kind::too_large) << number;
  EXPECT_EQ(code_of(1213), errc::unavailable);
  EXPECT_EQ(code_of(1114), errc::exhausted);
  EXPECT_EQ(code_of(1064), errc::invalid_argument);
  EXPECT_EQ(code_of(2013), errc::reset);
  EXPECT_EQ(code_of(2003), errc::unavailable);
}

TEST(mysql_server_errors_test, knows_texts_that_cannot_be_compared) {
  for (const unsigned number : {1267U, 1270U, 1271U, 3988U})
    EXPECT_TRUE(is_of_charsets(number)) << number;
  EXPECT_FALSE(is_of_charsets(1366));
}

TEST(mysql_server_errors_test, a_statement_that_fails_does_not_end_the_connection) {
  EXPECT_FALSE(ends_connection(1062));
  EXPECT_FALSE(ends_connection(1205));
  EXPECT_TRUE(ends_connection(1927));
  EXPECT_TRUE(ends_connection(1053));
  EXPECT_TRUE(ends_connection(2013));
  EXPECT_TRUE(ends_connection(1047));
}

TEST(mysql_server_errors_test, a_node_that_its_cluster_is_without_serves_nobody) {
  EXPECT_TRUE(is_of_whole_server(1047));
  EXPECT_TRUE(is_of_whole_server(1053));
  EXPECT_FALSE(is_of_whole_server(1927)) << "one connection alone was killed";
  EXPECT_FALSE(is_of_whole_server(2013));
  EXPECT_EQ(kind_of(1047), failure_kind::busy);
  EXPECT_EQ(code_of(1047), errc::unavailable);
}

TEST(mysql_server_errors_test, only_what_was_surely_undone_is_said_to_be) {
  for (const unsigned number : {1213U, 3101U, 1062U, 1452U, 1290U})
    EXPECT_TRUE(undoes_commit(number)) << number;
  for (const unsigned number : {0U, 1047U, 1053U, 1180U, 1205U, 1317U, 1927U, 1105U, 2013U, 3100U})
    EXPECT_FALSE(undoes_commit(number)) << number;
  for (const unsigned number : {1180U, 3100U}) EXPECT_TRUE(may_be_done(number)) << number;
  for (const unsigned number : {1047U, 1213U, 1062U, 1290U, 1114U, 3101U})
    EXPECT_FALSE(may_be_done(number)) << number;
  EXPECT_TRUE(was_not_begun(1047));
  EXPECT_FALSE(was_not_begun(1053));
}

}  // namespace
}  // namespace weft::store::mysql

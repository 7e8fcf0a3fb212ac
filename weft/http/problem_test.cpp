#include <weft/http/problem.hpp>

#include <gtest/gtest.h>

namespace weft::http {
namespace {

TEST(problem, says_what_is_known_and_nothing_else) {
  std::string text = "what was there before";
  write_problem({.status = status::not_found}, text);
  EXPECT_EQ(text, R"({"title":"Not Found","status":404})");
}

TEST(problem, says_where_the_fault_is) {
  std::string text;
  write_problem({.status = status::bad_request,
                 .detail = "expected a number",
                 .offset = 13,
                 .path = "/sequence"},
                text);
  EXPECT_EQ(text, R"({"title":"Bad Request","status":400,"detail":"expected a number",)"
                  R"("offset":13,"path":"/sequence"})");
}

TEST(problem, escapes_what_came_from_a_client) {
  std::string text;
  write_problem({.status = status::conflict, .title = "a \"b\"", .detail = "line\nbreak"}, text);
  EXPECT_EQ(text, R"({"title":"a \"b\"","status":409,"detail":"line\nbreak"})");
}

}  // namespace
}  // namespace weft::http

#include <weft/http/router.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::http {
namespace {

router make(std::vector<std::pair<method, std::string>> routes) {
  router made;
  for (std::uint32_t i = 0; i < routes.size(); ++i)
    EXPECT_TRUE(made.add(routes[i].first, routes[i].second, i).has_value()) << routes[i].second;
  return made;
}

std::string allow(const route_match& match) {
  std::array<char, method_set::text_capacity> room;
  return std::string{match.allowed.text(room)};
}

TEST(router, finds_texts) {
  const router routes =
      make({{method::get, "/"}, {method::get, "/a"}, {method::get, "/a/b"}, {method::get, "/a/"}});
  EXPECT_EQ(routes.find(method::get, "/").payload, 0u);
  EXPECT_EQ(routes.find(method::get, "/a").payload, 1u);
  EXPECT_EQ(routes.find(method::get, "/a/b").payload, 2u);
  EXPECT_EQ(routes.find(method::get, "/a/").payload, 3u);
  for (std::string_view path : {"/b", "/a/b/", "/a/b/c", "/aa", "//", "", "a", "*"})
    EXPECT_EQ(routes.find(method::get, path).outcome, route_outcome::not_found) << path;
}

TEST(router, captures_parameters) {
  const router routes = make({{method::get, "/users/{id}/orders/{order}"}});
  const route_match match = routes.find(method::get, "/users/7/orders/a%2Fb");
  ASSERT_EQ(match.outcome, route_outcome::found);
  EXPECT_EQ(match.parameter_count, 2);
  EXPECT_EQ(match.parameter("id"), "7");
  EXPECT_EQ(match.parameter("order"), "a%2Fb");
  EXPECT_EQ(match.parameter("other"), std::nullopt);
}

TEST(router, a_parameter_is_not_empty) {
  const router routes = make({{method::get, "/users/{id}"}});
  EXPECT_EQ(routes.find(method::get, "/users/").outcome, route_outcome::not_found);
  EXPECT_EQ(routes.find(method::get, "/users/7/").outcome, route_outcome::not_found);
}

TEST(router, the_rest_is_all_that_is_left) {
  const router routes = make({{method::get, "/files/{*path}"}});
  EXPECT_EQ(routes.find(method::get, "/files/a/b/c").parameter("path"), "a/b/c");
  EXPECT_EQ(routes.find(method::get, "/files/").parameter("path"), "");
  EXPECT_EQ(routes.find(method::get, "/files").outcome, route_outcome::not_found);
}

// Whatever the order in which they were added.
TEST(router, text_goes_before_parameter_and_that_before_the_rest) {
  std::vector<std::string> patterns = {"/a/b", "/a/{x}", "/a/{*rest}", "/{x}/b"};
  std::ranges::sort(patterns);
  do {
    router routes;
    for (std::uint32_t i = 0; i < patterns.size(); ++i)
      ASSERT_TRUE(routes.add(method::get, patterns[i], i));
    const auto pattern_of = [&](std::string_view path) {
      return patterns[routes.find(method::get, path).payload];
    };
    EXPECT_EQ(pattern_of("/a/b"), "/a/b");
    EXPECT_EQ(pattern_of("/a/c"), "/a/{x}");
    EXPECT_EQ(pattern_of("/a/c/d"), "/a/{*rest}");
    EXPECT_EQ(pattern_of("/a/"), "/a/{*rest}");
    EXPECT_EQ(pattern_of("/c/b"), "/{x}/b");
  } while (std::ranges::next_permutation(patterns).found);
}

TEST(router, goes_back_when_the_better_choice_leads_nowhere) {
  const router routes =
      make({{method::get, "/a/b/c"}, {method::get, "/{x}/b/d"}, {method::get, "/{*all}"}});
  EXPECT_EQ(routes.find(method::get, "/a/b/c").payload, 0u);
  const route_match second = routes.find(method::get, "/a/b/d");
  EXPECT_EQ(second.payload, 1u);
  EXPECT_EQ(second.parameter("x"), "a");
  const route_match third = routes.find(method::get, "/a/b/e");
  EXPECT_EQ(third.payload, 2u);
  EXPECT_EQ(third.parameter("all"), "a/b/e");
  EXPECT_EQ(third.parameter_count, 1);
}

TEST(router, tries_the_next_pattern_for_another_method) {
  const router routes = make({{method::get, "/users/me"}, {method::delete_, "/users/{id}"}});
  const route_match match = routes.find(method::delete_, "/users/me");
  EXPECT_EQ(match.payload, 1u);
  EXPECT_EQ(match.parameter("id"), "me");
}

TEST(router, an_unserved_method_is_told_which_are) {
  const router routes = make({{method::post, "/a"}, {method::get, "/{x}"}, {method::put, "/b"}});
  const route_match match = routes.find(method::delete_, "/a");
  EXPECT_EQ(match.outcome, route_outcome::method_not_allowed);
  EXPECT_EQ(allow(match), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(routes.find(method::get, "/c/d").outcome, route_outcome::not_found);
}

TEST(router, get_answers_head_unless_head_has_a_route) {
  const router routes =
      make({{method::get, "/a"}, {method::get, "/b"}, {method::head, "/b"}, {method::post, "/c"}});
  EXPECT_EQ(routes.find(method::head, "/a").payload, 0u);
  EXPECT_EQ(routes.find(method::head, "/b").payload, 2u);
  EXPECT_EQ(routes.find(method::head, "/c").outcome, route_outcome::method_not_allowed);
}

TEST(router, options_are_known_unless_they_have_a_route) {
  const router routes = make({{method::get, "/a"}, {method::options, "/b"}});
  const route_match match = routes.find(method::options, "/a");
  EXPECT_EQ(match.outcome, route_outcome::options);
  EXPECT_EQ(allow(match), "GET, HEAD, OPTIONS");
  EXPECT_EQ(routes.find(method::options, "/b").outcome, route_outcome::found);
  EXPECT_EQ(routes.find(method::options, "/c").outcome, route_outcome::not_found);
  EXPECT_TRUE(routes.allowed_anywhere().contains(method::get));
  EXPECT_FALSE(routes.allowed_anywhere().contains(method::post));
}

TEST(router, one_route_twice_is_an_error_that_names_both) {
  router routes = make({{method::get, "/users/{id}"}});
  const auto added = routes.add(method::get, "/users/{name}", 1);
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error(), R"("GET /users/{name}" is the same route as "GET /users/{id}")");
  EXPECT_FALSE(routes.add(method::get, "/users/{id}", 1).has_value());
  EXPECT_EQ(routes.find(method::get, "/users/7").payload, 0u);
  EXPECT_TRUE(routes.add(method::put, "/users/{name}", 2).has_value());
  EXPECT_EQ(routes.find(method::put, "/users/7").parameter("name"), "7");
}

TEST(router, a_route_that_is_removed_is_not_found_and_may_be_added_again) {
  router routes = make({{method::get, "/a/{id}"}, {method::put, "/a/{id}"}, {method::get, "/b"}});
  EXPECT_EQ(routes.remove(method::get, "/a/{id}"), std::vector<std::string>{"id"});
  EXPECT_EQ(routes.find(method::get, "/a/7").outcome, route_outcome::method_not_allowed);
  EXPECT_EQ(allow(routes.find(method::get, "/a/7")), "PUT, OPTIONS");
  EXPECT_EQ(routes.find(method::put, "/a/7").payload, 1u);
  EXPECT_TRUE(routes.remove(method::get, "/b").empty());
  EXPECT_EQ(routes.find(method::get, "/b").outcome, route_outcome::not_found);
  EXPECT_FALSE(routes.allowed_anywhere().contains(method::get));
  EXPECT_TRUE(routes.allowed_anywhere().contains(method::put));
  EXPECT_TRUE(routes.add(method::get, "/a/{name}", 5).has_value());
  EXPECT_EQ(routes.find(method::get, "/a/7").parameter("name"), "7");
}

TEST(router, the_names_a_match_looks_at_outlive_the_route) {
  router routes = make({{method::get, "/a/{id}/{part}"}});
  const route_match found = routes.find(method::get, "/a/7/head");
  const auto names = routes.remove(method::get, "/a/{id}/{part}");
  EXPECT_TRUE(routes.add(method::get, "/{x}/{y}/{z}", 1).has_value());
  EXPECT_EQ(found.parameter("part"), "head");
}

// Another way leads on where a removed one has ended, and what is left stays.
TEST(router, a_removed_route_takes_nothing_with_it) {
  const std::vector<std::string> patterns = {"/",    "/a",       "/a/b",       "/a/b/c",
                                             "/a/",  "/a/{x}",   "/a/{x}/c",   "/a/{*rest}",
                                             "/{y}", "/{y}/{z}", "/{y}/b/{z}", "/{*all}"};
  const std::vector<std::string> paths = {"/",     "/a",   "/a/b",   "/a/b/c", "/a/",
                                          "/q",    "/q/r", "/a/q",   "/a/q/c", "/q/b/r",
                                          "/a/b/", "//",   "/q/r/s", "/a/q/r"};
  for (std::size_t gone = 0; gone < patterns.size(); ++gone) {
    router with;
    router without;
    for (std::uint32_t i = 0; i < patterns.size(); ++i) {
      ASSERT_TRUE(with.add(method::get, patterns[i], i).has_value());
      if (i != gone) {
        ASSERT_TRUE(without.add(method::get, patterns[i], i).has_value());
      }
    }
    std::ignore = with.remove(method::get, patterns[gone]);
    for (const std::string& path : paths) {
      const route_match left = with.find(method::get, path);
      const route_match expected = without.find(method::get, path);
      EXPECT_EQ(left.outcome, expected.outcome) << path << " without " << patterns[gone];
      EXPECT_EQ(left.payload, expected.payload) << path << " without " << patterns[gone];
    }
  }
}

TEST(router, coming_and_going_leaves_all_as_it_was) {
  router routes = make({{method::get, "/kept/{id}"}});
  for (std::uint32_t round = 0; round < 100; ++round) {
    const std::string mine = "/room/" + std::to_string(round) + "/{seat}";
    ASSERT_TRUE(routes.add(method::get, mine, round).has_value());
    ASSERT_TRUE(routes.add(method::get, "/room/list", round).has_value());
    EXPECT_EQ(routes.find(method::get, "/room/" + std::to_string(round) + "/4").payload, round);
    EXPECT_EQ(routes.find(method::get, "/room/list").payload, round);
    std::ignore = routes.remove(method::get, "/room/list");
    EXPECT_EQ(routes.remove(method::get, mine), std::vector<std::string>{"seat"});
    EXPECT_EQ(routes.find(method::get, "/room/list").outcome, route_outcome::not_found);
  }
  EXPECT_EQ(routes.find(method::get, "/kept/1").parameter("id"), "1");
}

TEST(router, bad_patterns_are_refused) {
  router routes;
  for (std::string_view pattern :
       {"", "a", "*", "/{}", "/{*}", "/{a b}", "/{*a}/b", "/{a}/{a}", "/a{b}", "/{a", "/a}", "/.",
        "/a/..", "/a b", "/a?b", "/a#b", "/\xc3\xa4", "/{1}/{2}/{3}/{4}/{5}/{6}/{7}/{8}/{9}"}) {
    const auto added = routes.add(method::get, pattern, 0);
    ASSERT_FALSE(added.has_value()) << pattern;
    EXPECT_TRUE(added.error().starts_with("\"GET " + std::string{pattern} + "\": "))
        << added.error();
  }
  std::string deep;
  for (int i = 0; i < 33; ++i) deep += "/a";
  EXPECT_FALSE(routes.add(method::get, deep, 0).has_value());
  EXPECT_EQ(routes.find(method::get, "/").outcome, route_outcome::not_found);
}

TEST(router, finds_each_of_many) {
  router routes;
  for (std::uint32_t i = 0; i < 2000; ++i)
    ASSERT_TRUE(routes.add(method::get,
                           "/v" + std::to_string(i % 40) + "/r" + std::to_string(i) + "/{id}", i));
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const std::string path = "/v" + std::to_string(i % 40) + "/r" + std::to_string(i) + "/x";
    EXPECT_EQ(routes.find(method::get, path).payload, i);
  }
  EXPECT_EQ(routes.find(method::get, "/v0/r1/x").outcome, route_outcome::not_found);
}

TEST(router, finds_each_of_many_texts_of_one_length_and_of_all_lengths) {
  router routes;
  std::vector<std::string> paths;
  for (char last = 'a'; last <= 'z'; ++last)
    for (std::string_view start : {"/", "/a", "/ab", "/abc", "/abcdefg/", "/abcdefgh-0123456789"})
      paths.push_back(std::string{start} + last);
  for (std::size_t i = 0; i < paths.size(); ++i)
    ASSERT_TRUE(routes.add(method::get, paths[i], static_cast<std::uint32_t>(i)).has_value());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const route_match match = routes.find(method::get, paths[i]);
    EXPECT_EQ(match.outcome, route_outcome::found) << paths[i];
    EXPECT_EQ(match.payload, i) << paths[i];
    EXPECT_EQ(routes.find(method::get, paths[i] + "!").outcome, route_outcome::not_found);
    std::string other = paths[i];
    other[other.size() - 1] = '!';
    EXPECT_EQ(routes.find(method::get, other).outcome, route_outcome::not_found) << other;
  }
}

}  // namespace
}  // namespace weft::http

// Runs the cases of tests/conformance/http1_responses/, whose README.md describes the format: each
// whole, cut in two at every byte, byte by byte, and against a page that may not be touched.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <tests/conformance/guarded_bytes.hpp>
#include <tests/conformance/response_case.hpp>
#include <tests/conformance/response_outcome.hpp>

namespace weft::http {
namespace {

void check_response(const response_case& one, const std::string& outcome) {
  EXPECT_EQ(outcome.substr(0, outcome.find_first_of(":\n")), one.expect) << outcome;
  if (!one.why.empty()) {
    EXPECT_TRUE(outcome.starts_with("refused: " + one.why)) << outcome;
  }
  for (const std::string& fact : one.facts)
    EXPECT_NE(outcome.find("\n" + fact + "\n"), std::string::npos) << "no " << fact << " in\n"
                                                                   << outcome;
}

TEST(response_conformance, cases_are_there_and_well_formed) {
  ASSERT_GT(response_cases().size(), 60U);
  for (const response_case& one : response_cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    EXPECT_TRUE(one.rule.contains("RFC ")) << "names no rule";
    EXPECT_EQ(one.expect == "refused", !one.why.empty());
    EXPECT_EQ(one.expect == "accept", !one.facts.empty());
    for (const response_case& other : response_cases())
      EXPECT_TRUE(&one == &other || one.name != other.name) << "two cases of one name";
  }
}

TEST(response_conformance, whole) {
  for (const response_case& one : response_cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    check_response(one, describe_response(one.bytes, {}, one.how));
  }
}

TEST(response_conformance, every_beginning_at_a_guard_page) {
  for (const response_case& one : response_cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    const std::size_t stride = one.bytes.size() < 600 ? 1 : 97;
    for (std::size_t size = 0; size <= one.bytes.size(); size += stride) {
      const std::string_view beginning = std::string_view{one.bytes}.substr(0, size);
      EXPECT_EQ(describe_response_in_place(guarded_bytes{beginning}.text(), one.how),
                describe_response(beginning, {}, one.how));
    }
  }
}

TEST(response_conformance, cut_at_every_byte) {
  for (const response_case& one : response_cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    const std::string whole = describe_response(one.bytes, {}, one.how);
    const std::size_t stride = one.bytes.size() < 600 ? 1 : 97;
    for (std::size_t cut = 0; cut <= one.bytes.size(); cut += stride)
      ASSERT_EQ(describe_response(one.bytes, {&cut, 1}, one.how), whole) << "cut at " << cut;
  }
}

TEST(response_conformance, byte_by_byte) {
  for (const response_case& one : response_cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    std::vector<std::size_t> cuts(one.bytes.size());
    std::iota(cuts.begin(), cuts.end(), 0UZ);
    EXPECT_EQ(describe_response(one.bytes, cuts, one.how),
              describe_response(one.bytes, {}, one.how));
  }
}

}  // namespace
}  // namespace weft::http

// Runs the cases of tests/conformance/http1/, whose README.md describes the format: each whole, cut
// in two at every byte, byte by byte, and against a page that may not be touched.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <weft/http/scan.hpp>

#include <tests/conformance/conformance_case.hpp>
#include <tests/conformance/guarded_bytes.hpp>
#include <tests/conformance/message_outcome.hpp>

namespace weft::http {
namespace {

const std::vector<conformance_case>& cases() { return conformance_cases(); }

// The outcome's first word, and each line that is to be there.
void check(const conformance_case& one, const std::string& outcome) {
  EXPECT_EQ(outcome.substr(0, outcome.find_first_of(" \n")), one.expect) << outcome;
  for (const std::string& fact : one.facts)
    EXPECT_NE(("\n" + outcome).find("\n" + fact + "\n"), std::string::npos)
        << "no " << fact << " in\n"
        << outcome;
}

TEST(conformance, cases_are_there_and_well_formed) {
  ASSERT_GT(cases().size(), 200u);
  for (const conformance_case& one : cases()) {
    EXPECT_FALSE(one.name.empty());
    EXPECT_FALSE(one.expect.empty()) << one.file << ": " << one.name;
    EXPECT_TRUE(one.rule.contains("RFC ")) << one.file << ": " << one.name << " names no rule";
    for (const conformance_case& other : cases())
      EXPECT_TRUE(&one == &other || one.name != other.name) << "two cases of the name " << one.name;
  }
}

TEST(conformance, every_status_has_a_case) {
  // 408 and the 503 of a slow handler are a matter of time: see connection_test.cpp.
  for (const int status :
       {100, 200, 204, 304, 400, 404, 405, 413, 414, 417, 431, 500, 501, 503, 505})
    EXPECT_TRUE(std::ranges::any_of(cases(), [status](const conformance_case& one) {
      return std::ranges::any_of(one.replies, [status](const expected_reply& each) {
        return each.status == status &&
               (status != 405 || each.lines.front().starts_with("Allow: "));
      });
    })) << status;
}

TEST(conformance, whole) {
  for (const conformance_case& one : cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    check(one, describe_message(one.bytes, {}, one.bounds));
  }
}

TEST(conformance, at_a_guard_page) {
  for (const conformance_case& one : cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    check(one, describe_message_in_place(guarded_bytes{one.bytes}.text(), one.bounds));
  }
}

TEST(conformance, at_a_guard_page_by_each_variant_of_scanning) {
  for (const scan::variant each : scan::variants()) {
    scan::use(each);  // the last is the one that was in use
    for (const conformance_case& one : cases()) {
      SCOPED_TRACE(one.file + ": " + one.name);
      check(one, describe_message_in_place(guarded_bytes{one.bytes}.text(), one.bounds));
    }
  }
}

// Every beginning of a message, too, must be read without touching what is not there.
TEST(conformance, every_beginning_at_a_guard_page) {
  for (const conformance_case& one : cases()) {
    if (one.bytes.size() > 600) continue;
    for (std::size_t size = 0; size < one.bytes.size(); ++size) {
      const std::string_view beginning = std::string_view{one.bytes}.substr(0, size);
      EXPECT_EQ(describe_message_in_place(guarded_bytes{beginning}.text(), one.bounds),
                describe_message(beginning, {}, one.bounds));
    }
  }
}

TEST(conformance, cut_at_every_byte) {
  for (const conformance_case& one : cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    const std::string whole = describe_message(one.bytes, {}, one.bounds);
    const std::size_t stride = one.bytes.size() < 2000 ? 1 : 97;
    for (std::size_t cut = 0; cut <= one.bytes.size(); cut += stride)
      ASSERT_EQ(describe_message(one.bytes, {&cut, 1}, one.bounds), whole) << "cut at " << cut;
  }
}

TEST(conformance, byte_by_byte) {
  for (const conformance_case& one : cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    std::vector<std::size_t> cuts(one.bytes.size());
    std::iota(cuts.begin(), cuts.end(), 0uz);
    EXPECT_EQ(describe_message(one.bytes, cuts, one.bounds),
              describe_message(one.bytes, {}, one.bounds));
  }
}

}  // namespace
}  // namespace weft::http

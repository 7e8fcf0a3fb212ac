// Runs the cases of tests/conformance/websocket/, whose README.md describes the format: each whole,
// cut in two at every byte, and byte by byte.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include <tests/conformance/websocket_case.hpp>
#include <tests/conformance/websocket_outcome.hpp>

namespace weft::http::ws {
namespace {

TEST(websocket_conformance, cases_are_there_and_well_formed) {
  ASSERT_GT(websocket_cases().size(), 100U);
  for (const websocket_case& one : websocket_cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    EXPECT_TRUE(one.rule.contains("RFC ")) << "names no rule";
    for (const websocket_case& other : websocket_cases())
      EXPECT_TRUE(&one == &other || one.name != other.name) << "two cases of one name";
  }
}

TEST(websocket_conformance, whole) {
  for (const websocket_case& one : websocket_cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    EXPECT_EQ(describe_frames(one.bytes, {}, one.how), one.events);
  }
}

TEST(websocket_conformance, cut_at_every_byte) {
  for (const websocket_case& one : websocket_cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    const std::size_t stride = one.bytes.size() < 600 ? 1 : 997;
    for (std::size_t cut = 0; cut <= one.bytes.size(); cut += stride)
      ASSERT_EQ(describe_frames(one.bytes, {&cut, 1}, one.how), one.events) << "cut at " << cut;
  }
}

TEST(websocket_conformance, byte_by_byte) {
  for (const websocket_case& one : websocket_cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    std::vector<std::size_t> cuts(one.bytes.size());
    std::iota(cuts.begin(), cuts.end(), 0UZ);
    EXPECT_EQ(describe_frames(one.bytes, cuts, one.how), one.events);
  }
}

}  // namespace
}  // namespace weft::http::ws

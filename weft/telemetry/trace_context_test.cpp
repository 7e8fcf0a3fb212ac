#include <weft/telemetry/trace_context.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace weft::telemetry {
namespace {

constexpr std::string_view given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string parent_of(const trace_context& trace) {
  const auto text = trace.parent();
  return {text.data(), text.size()};
}

TEST(trace_context, is_written_as_it_was_read) {
  trace_context trace;
  ASSERT_TRUE(trace.read(given, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"));
  EXPECT_TRUE(trace.is_sampled());
  EXPECT_EQ(trace.state, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  EXPECT_EQ(parent_of(trace), given);
  std::string id;
  trace.append_trace_id(id);
  EXPECT_EQ(id, "0af7651916cd43dd8448eb211c80319c");
}

TEST(trace_context, of_what_is_malformed_is_not_believed) {
  trace_context trace;
  ASSERT_TRUE(trace.read(given, "a=b"));
  for (const std::string_view wrong : {
           "",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
           "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
           "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319cb-7ad6b7169203331-01",
           "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
       }) {
    EXPECT_FALSE(trace.read(wrong, "c=d")) << wrong;
    EXPECT_EQ(parent_of(trace), given) << "unchanged";
    EXPECT_EQ(trace.state, "a=b");
  }
}

TEST(trace_context, of_a_later_version_is_read_as_far_as_it_is_known) {
  trace_context trace;
  ASSERT_TRUE(trace.read("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-09-more", ""));
  EXPECT_EQ(parent_of(trace), given) << "in our version, with the flag that it knows";
}

TEST(trace_context, drops_a_state_that_no_field_may_hold) {
  trace_context trace;
  ASSERT_TRUE(trace.read(given, "a=b\r\nSet-Cookie: c=d"));
  EXPECT_EQ(trace.state, "");
  ASSERT_TRUE(trace.read(given, std::string(513, 'a')));
  EXPECT_EQ(trace.state, "");
  ASSERT_TRUE(trace.read(given, std::string(512, 'a')));
  EXPECT_EQ(trace.state.size(), 512U);
}

TEST(trace_context, has_children_in_the_same_trace) {
  random dice{1};
  trace_context trace;
  ASSERT_TRUE(trace.read(given, "a=b"));
  trace.begin_span(dice);
  EXPECT_EQ(parent_of(trace).substr(0, 36), given.substr(0, 36));
  EXPECT_NE(parent_of(trace), given);
  EXPECT_EQ(trace.state, "a=b");
  trace_context other;
  other.begin_trace(dice);
  EXPECT_NE(other.trace_id, trace.trace_id);
  EXPECT_FALSE(other.is_sampled());
  trace_context same;
  EXPECT_TRUE(same.read(parent_of(other), ""));
}

}  // namespace
}  // namespace weft::telemetry

#include <weft/http/input_buffer.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace weft::http {
namespace {

class input_buffer_test : public ::testing::Test {
 protected:
  buffer_ref received(std::string_view text) {
    buffer_ref bytes = pool_.acquire();
    std::memcpy(bytes.data(), text.data(), text.size());
    bytes.resize(text.size());
    return bytes;
  }

  buffer_pool pool_;
  input_buffer input_;
};

TEST_F(input_buffer_test, lends_the_slot_itself) {
  buffer_ref bytes = received("hello");
  const char* where = bytes.data();
  input_.append(std::move(bytes));
  EXPECT_EQ(input_.text(), "hello");
  EXPECT_EQ(input_.text().data(), where);
}

TEST_F(input_buffer_test, gives_the_slot_back_when_used_up) {
  input_.append(received("hello"));
  input_.consume(2);
  EXPECT_EQ(input_.text(), "llo");
  EXPECT_EQ(pool_.in_use(), 1U);
  input_.consume(3);
  EXPECT_TRUE(input_.empty());
  EXPECT_EQ(pool_.in_use(), 0U);
}

TEST_F(input_buffer_test, gathers_what_spans_receives) {
  input_.append(received("GET / HT"));
  input_.append(received("TP/1.1"));
  EXPECT_EQ(input_.text(), "GET / HTTP/1.1");
  EXPECT_EQ(pool_.in_use(), 0U);
  input_.consume(6);
  input_.append(received("\r\n"));
  EXPECT_EQ(input_.text(), "HTTP/1.1\r\n");
  input_.consume(10);
  EXPECT_TRUE(input_.empty());
}

TEST_F(input_buffer_test, drops_what_lies_behind) {
  input_.append(received("head and body"));
  input_.truncate(4);
  EXPECT_EQ(input_.text(), "head") << "in the slot";
  input_.append(received(", gathered"));
  input_.consume(2);
  input_.truncate(3);
  EXPECT_EQ(input_.text(), "ad,") << "in memory of its own";
  input_.append(received(" more"));
  EXPECT_EQ(input_.text(), "ad, more");
}

TEST_F(input_buffer_test, begins_anew_when_all_has_been_dropped) {
  input_.append(received("dropped"));
  input_.truncate(0);
  EXPECT_TRUE(input_.empty());
  EXPECT_EQ(pool_.in_use(), 0U);
  input_.append(received("in a "));
  input_.append(received("string"));
  input_.consume(3);
  input_.truncate(0);
  input_.append(received("a "));
  input_.append(received("new one"));
  EXPECT_EQ(input_.text(), "a new one");
}

TEST_F(input_buffer_test, stays_whole_however_it_is_fed_and_used) {
  std::string expected;
  for (int i = 0; i < 1'000; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 7 + 1), static_cast<char>('a' + i % 26));
    input_.append(received(piece));
    expected += piece;
    const std::size_t used = expected.size() * static_cast<std::size_t>(i % 3) / 4;
    input_.consume(used);
    expected.erase(0, used);
    ASSERT_EQ(input_.text(), expected);
  }
}

}  // namespace
}  // namespace weft::http

#include <weft/loop/uring/buffer_ring.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft {
namespace {

class buffer_ring_test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (io_uring_queue_init(8, &ring_, 0) != 0) GTEST_SKIP() << "io_uring is not to be had here";
    ring_is_open_ = true;
    std::string why;
    ASSERT_TRUE(buffers_.open(ring_, why)) << why;
    buffers_.top_up();
  }
  void TearDown() override {
    for (const std::uint32_t slot : held_) pool_.release(slot);
    if (!ring_is_open_) return;
    buffers_.close(ring_);
    io_uring_queue_exit(&ring_);
  }

  // As when the kernel answers with that many buffers and nobody has read them yet. The pool lends
  // the lowest numbers first.
  void hold(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      const auto slot = static_cast<std::uint32_t>(held_.size());
      buffers_.took_back(slot);
      held_.push_back(slot);
    }
  }

  buffer_pool pool_;
  buffer_ring buffers_{pool_};
  io_uring ring_{};
  bool ring_is_open_ = false;
  std::vector<std::uint32_t> held_;
};

TEST_F(buffer_ring_test, is_full_while_nobody_holds_any) {
  EXPECT_EQ(buffers_.lent(), buffer_ring::most);
  EXPECT_EQ(pool_.in_use(), buffer_ring::most);
}

TEST_F(buffer_ring_test, what_was_used_is_lent_again_once_it_was_read) {
  hold(3);
  for (; !held_.empty(); held_.pop_back()) pool_.release(held_.back());
  EXPECT_EQ(buffers_.lent(), buffer_ring::most - 3);
  buffers_.top_up();
  EXPECT_EQ(buffers_.lent(), buffer_ring::most);
}

TEST_F(buffer_ring_test, what_is_not_read_yet_is_not_replaced) {
  hold(100);
  buffers_.top_up();
  EXPECT_EQ(buffers_.lent(), buffer_ring::most - 100);
  EXPECT_EQ(pool_.in_use(), buffer_ring::most);
}

TEST_F(buffer_ring_test, one_who_holds_all_does_not_starve_the_others) {
  hold(buffer_ring::most);
  EXPECT_EQ(buffers_.lent(), 0U);
  buffers_.top_up();
  EXPECT_EQ(buffers_.lent(), buffer_ring::least);
}

}  // namespace
}  // namespace weft

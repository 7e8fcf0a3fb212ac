#include <weft/loop/make_backend.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <weft/base/log.hpp>
#include <weft/loop/sim/sim_network.hpp>

namespace weft {
namespace {

class make_backend_test : public ::testing::Test {
 protected:
  make_backend_test() {
    log::set_level(log::level::debug);  // a choice is told at info once a program, at debug later
    log::set_sink(
        [](log::level, std::string_view message, void* lines) {
          static_cast<std::vector<std::string>*>(lines)->emplace_back(message);
        },
        &lines_);
  }
  ~make_backend_test() override {
    log::set_sink(nullptr, nullptr);
    log::set_level(level_before_);
  }

  result<std::unique_ptr<backend>> make(backend_kind kind) {
    return make_backend(kind, {.ready = ready_, .buffers = buffers_});
  }

  ready_queue ready_;
  buffer_pool buffers_;
  std::vector<std::string> lines_;
  log::level level_before_ = log::current_level();
};

TEST_F(make_backend_test, names_are_parsed_and_printed) {
  for (const auto kind : {backend_kind::automatic, backend_kind::io_uring, backend_kind::epoll,
                          backend_kind::simulated}) {
    const auto parsed = parse_backend(to_string(kind));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, kind);
  }
  EXPECT_EQ(*parse_backend("auto"), backend_kind::automatic);
  for (const std::string_view wrong : {"", "uring", "Epoll", "epoll ", "kqueue"})
    EXPECT_EQ(parse_backend(wrong).error(), errc::invalid_argument) << wrong;
}

TEST_F(make_backend_test, a_simulated_one_has_a_world_of_its_own_and_is_silent) {
  const auto io = make(backend_kind::simulated);
  ASSERT_TRUE(io);
  EXPECT_EQ((*io)->name(), "simulated");
  EXPECT_EQ((*io)->now(), sim_network::beginning);
  EXPECT_TRUE(lines_.empty());
}

TEST_F(make_backend_test, epoll_is_given_when_asked_for) {
  const auto io = make(backend_kind::epoll);
  ASSERT_TRUE(io);
  EXPECT_EQ((*io)->name(), "epoll");
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_NE(lines_[0].find("epoll"), std::string::npos);
}

TEST_F(make_backend_test, io_uring_is_given_or_refused_but_never_replaced) {
  const auto io = make(backend_kind::io_uring);
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_NE(lines_[0].find("io_uring"), std::string::npos);
  if (io) {
    EXPECT_EQ((*io)->name(), "io_uring");
  }
}

TEST_F(make_backend_test, automatic_takes_io_uring_where_it_is_to_be_had_and_says_so) {
  const bool has_uring = make(backend_kind::io_uring).has_value();
  lines_.clear();
  const auto io = make(backend_kind::automatic);
  ASSERT_TRUE(io);
  EXPECT_EQ((*io)->name(), has_uring ? "io_uring" : "epoll");
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_NE(lines_[0].find((*io)->name()), std::string::npos);
}

TEST_F(make_backend_test, a_wake_up_before_the_wait_ends_it) {
  for (const auto kind : {backend_kind::simulated, backend_kind::epoll, backend_kind::io_uring}) {
    const auto io = make(kind);
    if (!io) continue;
    EXPECT_TRUE((*io)->quiescent());
    for (int round = 0; round < 3; ++round) {
      (*io)->wake();
      (*io)->wake();
      (*io)->enter(time_point::max());  // would never return
    }
  }
}

}  // namespace
}  // namespace weft

#include <weft/loop/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/loop/epoll/file_threads.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/testing/allocation_failure.hpp>

namespace weft {
namespace {

class file_test : public on_any_backend {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    on_any_backend::SetUp();
  }
  void TearDown() override {
    on_any_backend::TearDown();
    for (const std::string& name : made_) ::unlink((folder_ + name).c_str());
    EXPECT_EQ(::rmdir(folder_.c_str()), 0);
  }
  std::string path(const std::string& name) {
    made_.push_back("/" + name);
    return folder_ + made_.back();
  }
  template <class F>
  void run(F body) {
    loop_->spawn(body());
    loop_->run();
  }

 private:
  std::string folder_ = ::testing::TempDir() + "weft-file-XXXXXX";
  std::vector<std::string> made_;
};

INSTANTIATE_TEST_SUITE_P(backends, file_test, kernel_backends, backend_name);

TEST_P(file_test, reads_what_was_written_where_it_was_written) {
  run([&]() -> task<void> {
    auto made = co_await file::open(*loop_, path("data"), file_access::create);
    EXPECT_TRUE((co_await made.value().write_at(0, "hello, world")).has_value());
    EXPECT_TRUE((co_await made->write_at(7, "there")).has_value());
    EXPECT_TRUE((co_await made->write_at(20, "far")).has_value());
    EXPECT_EQ((co_await made->size()).value(), 23U);
    EXPECT_TRUE((co_await made->sync()).has_value());
    std::string into(100, '?');
    EXPECT_EQ((co_await made->read_at(0, into)).value(), 23U);
    EXPECT_EQ(into.substr(0, 23), std::string("hello, there\0\0\0\0\0\0\0\0far", 23));
    EXPECT_EQ((co_await made->read_at(23, into)).value(), 0U) << "the end";
    EXPECT_EQ((co_await made->read_at(21, std::span{into}.first(1))).value(), 1U);
    EXPECT_EQ(into[0], 'a');
    EXPECT_TRUE((co_await made->close()).has_value());
    EXPECT_FALSE(made->is_open());
  });
}

TEST_P(file_test, carries_a_large_file_whole) {
  run([&]() -> task<void> {
    std::string all(5'000'000, '\0');
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 7 + i / 4'096);
    auto made = co_await file::open(*loop_, path("large"), file_access::replace);
    EXPECT_TRUE((co_await made.value().write_at(0, all)).has_value());
    std::string back(all.size() + 10, '\0');
    EXPECT_EQ((co_await made->read_at(0, back)).value(), all.size());
    back.resize(all.size());
    EXPECT_TRUE(back == all);
  });
}

TEST_P(file_test, opens_as_asked_and_says_why_not) {
  run([&]() -> task<void> {
    const std::string where = path("data");
    EXPECT_EQ((co_await file::open(*loop_, where)).error(), errc::not_found);
    EXPECT_EQ((co_await file::open(*loop_, where, file_access::read_write)).error(),
              errc::not_found);
    {
      auto made = co_await file::open(*loop_, where, file_access::create_new, 0600);
      EXPECT_TRUE((co_await made.value().write_at(0, "some")).has_value());
    }
    struct stat about{};
    EXPECT_EQ(::stat(where.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
    const auto again = co_await file::open(*loop_, where, file_access::create_new);
    EXPECT_EQ(again.error().os_errno(), EEXIST);
    auto kept = co_await file::open(*loop_, where, file_access::create);
    EXPECT_EQ((co_await kept.value().size()).value(), 4U);
    auto emptied = co_await file::open(*loop_, where, file_access::replace);
    EXPECT_EQ((co_await emptied.value().size()).value(), 0U);
    auto read_only = co_await file::open(*loop_, where);
    EXPECT_EQ((co_await read_only.value().write_at(0, "no")).error().os_errno(), EBADF);
    const auto trick = co_await file::open(*loop_, std::string{"/etc/hosts\0.txt", 15});
    EXPECT_EQ(trick.error(), errc::invalid_argument);
  });
}

task<void> write_block(file& to, std::size_t number, std::size_t& done) {
  const std::string block(4'096, static_cast<char>('a' + number % 26));
  if (co_await to.write_at(number * block.size(), block)) ++done;
}

TEST_P(file_test, takes_many_operations_at_once) {
  run([&]() -> task<void> {
    constexpr std::size_t blocks = 200;
    auto made = co_await file::open(*loop_, path("blocks"), file_access::replace);
    std::size_t done = 0;
    scope tasks{co_await this_task::environment()};
    for (std::size_t i = 0; i < blocks; ++i) tasks.spawn(write_block(made.value(), i, done));
    co_await tasks.join();
    EXPECT_EQ(done, blocks);
    std::string back(blocks * 4'096, '\0');
    EXPECT_EQ((co_await made->read_at(0, back)).value(), back.size());
    for (std::size_t i = 0; i < blocks; ++i)
      EXPECT_EQ(back[i * 4'096 + 4'095], static_cast<char>('a' + i % 26));
  });
}

struct open_outcome {
  bool ended = false;
  std::optional<error> failure;
};

task<void> open_once(event_loop& loop, std::string where, open_outcome& outcome) {
  const auto opened = co_await file::open(loop, std::move(where));
  outcome.ended = true;
  if (!opened) outcome.failure = opened.error();
}

/// Lets who waits to open the other end of a FIFO go on.
void open_for_writing(const std::string& fifo) {
  const int fd = ::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
}

TEST_P(file_test, cancels_what_has_not_begun_and_waits_for_what_has) {
  run([&]() -> task<void> {
    // Opening a FIFO waits for a writer: as many as there are threads keep all of them.
    const std::string fifo = path("fifo");
    EXPECT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const std::string plain = path("plain");
    { auto made = co_await file::open(*loop_, plain, file_access::create); }
    std::vector<open_outcome> held(file_threads::threads_most);
    scope busy{co_await this_task::environment()};
    for (open_outcome& outcome : held) busy.spawn(open_once(*loop_, fifo, outcome));
    EXPECT_TRUE((co_await sleep_for(*loop_, std::chrono::milliseconds{20})).has_value());
    open_outcome in_line;
    scope late{co_await this_task::environment()};
    late.spawn(open_once(*loop_, plain, in_line));
    co_await yield{*loop_};
    co_await yield{*loop_};
    late.request_stop();
    co_await late.join();
    if (GetParam() == backend_kind::epoll) {
      EXPECT_EQ(in_line.failure.value(), errc::cancelled);
    }
    busy.request_stop();
    EXPECT_TRUE((co_await sleep_for(*loop_, std::chrono::milliseconds{5})).has_value());
    if (GetParam() == backend_kind::epoll) {
      EXPECT_EQ(busy.active(), held.size()) << "what has begun is waited for";
    }
    while (busy.active() != 0) {
      open_for_writing(fifo);
      EXPECT_TRUE((co_await sleep_for(*loop_, std::chrono::milliseconds{1})).has_value());
    }
    co_await busy.join();
    for (const open_outcome& outcome : held) {
      EXPECT_TRUE(outcome.ended);
      if (GetParam() == backend_kind::epoll)
        EXPECT_FALSE(outcome.failure.has_value()) << "a success is returned as one";
      else if (outcome.failure)
        EXPECT_EQ(*outcome.failure, errc::cancelled);
    }
  });
}

TEST_P(file_test, heeds_the_deadline_and_a_stop_before_the_start_but_not_for_closing) {
  run([&]() -> task<void> {
    const std::string fifo = path("fifo");
    EXPECT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    auto made = co_await file::open(*loop_, path("data"), file_access::create);
    stop_source stopped;
    stopped.request_stop();
    environment ended = co_await this_task::environment();
    ended.stop = stopped.token();
    const auto written = co_await made.value().write_at(0, "never").in(ended);
    EXPECT_EQ(written.error(), errc::cancelled);
    EXPECT_EQ((co_await made->size()).value(), 0U);
    environment late = co_await this_task::environment();
    late.until = deadline::at(loop_->now());
    EXPECT_EQ((co_await made->size().in(late)).error(), errc::timed_out);
    EXPECT_TRUE((co_await made->close().in(ended)).has_value());
    EXPECT_FALSE(made->is_open());
  });
}

TEST_P(file_test, leaves_a_loop_that_can_end_while_files_are_open) {
  std::optional<file> open_still;
  run([&]() -> task<void> {
    open_still.emplace(std::move(*co_await file::open(*loop_, "/dev/null")));
  });
  EXPECT_TRUE(open_still->is_open());
}

using file_without_kernel_test = in_memory;

TEST_F(file_without_kernel_test, has_no_files) {
  loop_->spawn([](event_loop& loop) -> task<void> {
    EXPECT_EQ((co_await file::open(loop, "/dev/null")).error(), errc::unsupported);
  }(*loop_));
  loop_->run();
}

TEST(file_threads_test, a_file_is_closed_though_there_is_no_thread_for_it) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  file_threads threads{-1};
  file_operation closing{file_action::close, [](operation&) noexcept {}};
  closing.fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(closing.fd, 0);
  {
    const testing::allocation_failure no_thread{1};
    EXPECT_TRUE(threads.start(closing));
  }
  EXPECT_EQ(closing.result, 0);
  EXPECT_EQ(::fcntl(closing.fd, F_GETFD), -1) << "left open";
}

TEST(file_threads_test, what_needs_a_thread_says_that_there_is_none) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  file_threads threads{-1};
  file_operation syncing{file_action::sync, [](operation&) noexcept {}};
  const testing::allocation_failure no_thread{1};
  EXPECT_TRUE(threads.start(syncing));
  EXPECT_EQ(syncing.result, -EAGAIN);
}

}  // namespace
}  // namespace weft

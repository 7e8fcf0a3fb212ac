#include <weft/service/logger.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/error.hpp>
#include <weft/base/log.hpp>
#include <weft/base/log_levels.hpp>
#include <weft/service/container.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace scribes {

struct store {
  explicit store(weft::logger& given) : log{given} {}
  weft::logger& log;
};

struct till {
  explicit till(weft::logger& given) : log{given} {}
  weft::logger& log;
};

// Says what it is, and how often it was asked.
struct parcel {
  int number;
  int& asked;
  [[nodiscard]] std::string to_string() const {
    ++asked;
    return "parcel " + std::to_string(number);
  }
};

struct broken {
  [[nodiscard]] std::string to_string() const { throw std::runtime_error{"broken"}; }
};

}  // namespace scribes

namespace {

using namespace std::chrono_literals;
namespace log = weft::log;
using lines = std::vector<std::string>;

class logger_test : public ::testing::Test {
 protected:
  logger_test() { log::set_sink(&keep, this); }
  ~logger_test() override {
    log::set_sink(nullptr, nullptr);
    log::forget_named_levels();
    log::set_level(log::level::info);
  }
  static void keep(log::level at, std::string_view message, void* self) {
    static_cast<logger_test*>(self)->heard.push_back(std::string{log::to_string(at)} + " " +
                                                     std::string{message});
  }
  lines take() { return std::exchange(heard, {}); }

  lines heard;
};

TEST_F(logger_test, knows_whose_it_is) {
  weft::container services;
  services.add<scribes::store>().named("orders");
  services.add<scribes::till>();
  services.add<weft::logger>().per_consumer();
  services.get<scribes::till>().log.info("open");
  services.get<scribes::store>().log.warning("full");
  EXPECT_EQ(take(), (lines{"info scribes.till: open", "warning orders: full"}));
  EXPECT_NE(&services.get<scribes::till>().log, &services.get<scribes::store>().log);
}

TEST_F(logger_test, one_for_all_belongs_to_nobody) {
  weft::container services;
  services.add<scribes::till>();
  services.add<weft::logger>();
  services.get<scribes::till>().log.info("open");
  EXPECT_EQ(take(), lines{"info open"});
}

TEST_F(logger_test, fills_in_values_as_format_does) {
  const weft::logger log{{"scribes::till", {}}};
  int asked = 0;
  const std::string text = "text";
  log.info("{} {} {} {}", 7, -7L, std::uint64_t{1} << 63U, true);
  log.info("{}|{:>6}|{:<4}|{:.2f}", text, "right", 'c', 2.5F);
  log.info("{{}} {:#x}}}", std::uint8_t{255});
  log.info("{} in {}, {}", scribes::parcel{3, asked}, 1500ms, log::level::debug);
  log.info("{}", weft::error{weft::errc::timed_out});
  log.info("no {braces} where there are no values");
  log.info("{:d} {:>3}", "what does not fit is left out", 1);
  log.info("{}", static_cast<const void*>(nullptr));
  EXPECT_EQ(
      take(),
      (lines{"info scribes.till: 7 -7 9223372036854775808 true",
             "info scribes.till: text| right|c   |2.50", "info scribes.till: {} 0xff}",
             "info scribes.till: parcel 3 in 1500ms, debug",
             "info scribes.till: " + weft::error{weft::errc::timed_out}.message(),
             "info scribes.till: no {braces} where there are no values",
             "info scribes.till: what does not fit is left out   1", "info scribes.till: 0x0"}));
  EXPECT_EQ(asked, 1);
}

TEST_F(logger_test, each_level_has_its_function) {
  const weft::logger log{{"till", {}}};
  log::set_level(log::level::trace);
  log.trace("a");
  log.debug("a");
  log.error("a");
  log.trace("{}", 1);
  log.debug("{}", 1);
  log.warning("{}", 1);
  log.error("{}", 1);
  log.write(log::level::info, "a");
  log.write(log::level::info, "{}", 1);
  EXPECT_EQ(take(), (lines{"trace till: a", "debug till: a", "error till: a", "trace till: 1",
                           "debug till: 1", "warning till: 1", "error till: 1", "info till: a",
                           "info till: 1"}));
}

TEST_F(logger_test, obeys_the_level_of_its_name_as_soon_as_that_changes) {
  const weft::logger till{{"scribes::till", {}}};
  const weft::logger orders{{"scribes::store", "orders"}};
  till.debug("no");
  ASSERT_TRUE(log::set_level("scribes", log::level::debug));
  ASSERT_TRUE(log::set_level("orders", log::level::off));
  till.debug("yes");
  orders.error("no");
  log::set_level(log::level::error);
  till.debug("still");
  log::forget_named_levels();
  till.warning("no");
  orders.error("yes");
  EXPECT_EQ(take(),
            (lines{"debug scribes.till: yes", "debug scribes.till: still", "error orders: yes"}));
}

TEST_F(logger_test, formats_and_allocates_nothing_that_is_not_wanted) {
  const weft::logger log{{"a::service::whose::name::is::longer::than::short::strings::are", {}}};
  int asked = 0;
  EXPECT_FALSE(log.enabled(log::level::debug));  // the first time it looks for its level
  const std::string text(1000, 'x');
  const weft::testing::allocation_counter since;
  for (int i = 0; i < 1000; ++i) {
    log.debug("{} {} {:>100}", i, scribes::parcel{i, asked}, text);
    log.debug(text);
  }
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(take(), lines{});
}

TEST_F(logger_test, survives_what_a_value_throws) {
  const weft::logger log{{"till", {}}};
  log.info("{} and {}", 1, scribes::broken{});
  EXPECT_EQ(take(), lines{"info till: {} and {}"});
}

TEST_F(logger_test, may_be_used_by_any_thread_while_levels_change) {
  const weft::logger log{{"till", {}}};
  log::set_sink([](log::level, std::string_view, void*) {}, nullptr);
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i)
    writers.emplace_back([&log] {
      for (int n = 0; n < 500; ++n) log.debug("{}", n);
    });
  for (int n = 0; n < 500; ++n)
    log::set_level(n % 2 == 0 ? log::level::debug : log::level::warning);
  for (std::thread& each : writers) each.join();
  EXPECT_FALSE(log.enabled(log::level::debug));
}

// Of the 0.6 KB that a service with its logger may take, a heap adds some.
TEST_F(logger_test, a_service_and_its_logger_take_little_memory) {
  constexpr std::size_t count = 10'000;
  weft::container services;
  services.add<weft::logger>().per_consumer();
  const weft::testing::allocation_counter since;
  for (std::size_t i = 0; i < count; ++i) services.add<scribes::till>();
  struct last {
    explicit last(weft::many<scribes::till> all) : tills{all} {}
    weft::many<scribes::till> tills;
  };
  services.add<last>();
  std::size_t made = 0;
  for (const scribes::till& each : services.get<last>().tills)
    made += each.log.name() == "scribes.till" ? 1U : 0U;
  EXPECT_EQ(made, count);
  EXPECT_LE(since.allocated_bytes() / count, 560U);
  RecordProperty("bytes_per_service", static_cast<int>(since.allocated_bytes() / count));
}

}  // namespace

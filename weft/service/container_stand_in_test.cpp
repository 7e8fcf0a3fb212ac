// A test's own part among the real ones: instead_of().
#include <weft/service/container_change_fixture_test.hpp>

#include <array>
#include <string>

#include <weft/service/application.hpp>

namespace bank {

using mill::journal;

struct vault {
  virtual ~vault() = default;
  [[nodiscard]] virtual int holds() const = 0;
};
struct safe {
  virtual ~safe() = default;
  [[nodiscard]] virtual int depth() const { return 3; }
};
struct real_vault : vault, safe {
  explicit real_vault(journal& into) : log{into} { log.note("real made"); }
  [[nodiscard]] int holds() const override { return 1000; }
  void start() { log.note("real started"); }
  journal& log;
};
struct false_vault : vault {
  explicit false_vault(journal& into) : log{into} {}
  [[nodiscard]] int holds() const override { return 7; }
  void start() { log.note("false started"); }
  void stop() { log.note("false stopped"); }
  journal& log;
};
struct clerk {
  explicit clerk(vault& in) : counts{in.holds()} {}
  int counts;
};
struct teller {
  explicit teller(weft::named<vault, "gold"> in) : counts{in->holds()} {}
  int counts;
};
struct auditor {
  explicit auditor(weft::many<vault> all) {
    for (const vault& each : all) sums.push_back(each.holds());
  }
  std::vector<int> sums;
};
struct inspector {
  explicit inspector(safe& below) : depth{below.depth()} {}
  int depth;
};

}  // namespace bank

namespace {

using mill::lines;
using weft::captured_log;
using weft::container;
using weft::container_change;
using weft::result;
using weft::said;
using weft::task;

class stand_in : public container_change {};

TEST_F(stand_in, takes_the_place_of_what_is_added_before_or_after_it) {
  services.add<bank::clerk>();
  services.add<bank::false_vault>().instead_of<bank::vault>();
  const auto real = services.add<bank::real_vault>().as<bank::vault>().handle();
  run([&]() -> task<void> {
    EXPECT_EQ(services.get<bank::clerk>().counts, 7);
    EXPECT_EQ(services.get<bank::false_vault>().holds(), 7) << "it is itself, too";
    EXPECT_EQ(log.take(), lines{"false started"}) << "the real one is not made";
    co_await expect("well", services.restart(real));
    EXPECT_EQ(log.take(), (lines{"false stopped", "false started"}));
    co_await expect("well", services.remove(real));
    co_await expect("not_found", services.start(real));
  });
}

TEST_F(stand_in, takes_the_place_of_a_name_and_of_a_handle) {
  services.add<bank::real_vault>().as<bank::vault>();
  const auto gold = services.add<bank::real_vault>().as<bank::vault>().named("gold").handle();
  services.add<bank::real_vault>().as<bank::vault, bank::safe>().named("iron");
  services.add<bank::teller>();
  services.add<bank::clerk>().bind<bank::vault>(gold);
  services.add<bank::auditor>();
  services.add<bank::false_vault>().instead_of<bank::vault>("gold");
  run([&]() -> task<void> {
    EXPECT_EQ(services.get<bank::teller>().counts, 7);
    EXPECT_EQ(services.get<bank::clerk>().counts, 7);
    EXPECT_EQ(services.get<bank::auditor>().sums, (std::vector<int>{1000, 7, 1000}));
    co_return;
  });
}

TEST_F(stand_in, leaves_what_else_the_real_one_is) {
  services.add<bank::real_vault>().as<bank::vault, bank::safe>();
  services.add<bank::inspector>();
  services.add<bank::false_vault>().instead_of<bank::vault>();
  run([&]() -> task<void> {
    EXPECT_EQ(log.take(), (lines{"real made", "real started", "false started"}));
    EXPECT_EQ(services.get<bank::inspector>().depth, 3);
    EXPECT_EQ(&services.get<bank::vault>(), services.find<bank::false_vault>());
    co_return;
  });
}

TEST_F(stand_in, takes_the_place_of_what_is_lent) {
  bank::real_vault lent{log};
  services.provide<bank::vault>(lent);
  services.add<bank::clerk>();
  services.add<bank::false_vault>().instead_of<bank::vault>();
  run([&]() -> task<void> {
    EXPECT_EQ(services.get<bank::clerk>().counts, 7);
    co_return;
  });
}

TEST_F(stand_in, says_what_there_is_not_to_replace) {
  captured_log messages;
  services.add<bank::false_vault>().instead_of<bank::vault>("gold");
  std::optional<result<void>> up;
  loop->spawn(keep(services.start(), up));
  loop->run();
  EXPECT_EQ(said(up), "not_found");
  EXPECT_EQ(messages.messages, lines{"bank::false_vault is to be instead of bank::vault \"gold\", "
                                     "which nobody provides"});
  services.add<bank::real_vault>().as<bank::vault>().named("gold");
  loop->spawn(keep(services.start(), up));
  loop->run();
  EXPECT_EQ(said(up), "well");
}

TEST_F(stand_in, is_forgotten_with_what_it_was_to_be) {
  captured_log messages;
  const auto fake = services.add<bank::false_vault>().instead_of<bank::vault>("gold").handle();
  std::optional<result<void>> went;
  loop->spawn(keep(services.start(), went));
  loop->run();
  EXPECT_EQ(said(went), "not_found");
  loop->spawn(keep(services.remove(fake), went));
  loop->run();
  EXPECT_EQ(said(went), "well");
  services.add<bank::real_vault>().as<bank::vault>().named("gold");
  services.add<bank::teller>();
  run([&]() -> task<void> {
    EXPECT_EQ(services.get<bank::teller>().counts, 1000);
    co_return;
  });
}

TEST_F(stand_in, leaves_those_who_sleep_to_another_when_it_goes) {
  const auto real = services.add<bank::real_vault>().as<bank::vault>().handle();
  const auto clerk = services.add<bank::clerk>().bind<bank::vault>(real).lazy().handle();
  services.add<bank::false_vault>().instead_of<bank::vault>();
  run([&]() -> task<void> {
    co_await expect("well", services.remove(real));
    services.add<bank::real_vault>().as<bank::vault>();
    co_await expect("well", services.start(clerk));
    EXPECT_EQ(services.get<bank::clerk>().counts, 1000);
  });
}

TEST_F(stand_in, comes_too_late_for_what_has_been_made) {
  captured_log messages;
  services.add<bank::real_vault>().as<bank::vault>();
  run([&]() -> task<void> {
    const auto late = services.add<bank::false_vault>().instead_of<bank::vault>().handle();
    static_cast<void>(co_await services.start(late));
  });
  EXPECT_EQ(messages.messages,
            lines{"bank::false_vault is to be instead of bank::vault, which has been made: say so "
                  "before services are first started"});
}

TEST(stand_in_of_an_application, is_there_on_every_shard) {
  static std::atomic<int> counted = 0;
  static std::atomic<int> made = 0;
  struct real : bank::vault {
    real() { ++made; }
    [[nodiscard]] int holds() const override { return 1000; }
  };
  struct fake : bank::vault {
    [[nodiscard]] int holds() const override { return 7; }
  };
  struct counter {
    explicit counter(bank::vault& in) { counted += in.holds(); }
  };
  const auto compose = [](weft::application& app) {
    app.add<real>().as<bank::vault>();
    app.add<counter>();
  };
  std::string name = "bank";
  std::string threads = "--threads=3";
  std::array<char*, 3> values{name.data(), threads.data(), nullptr};
  weft::application app{2, values.data()};
  compose(app);
  app.add<fake>().instead_of<bank::vault>();
  app.on_ready([&] { app.request_stop(); });
  EXPECT_EQ(app.run(), 0);
  EXPECT_EQ(counted, 3 * 7);
  EXPECT_EQ(made, 0);
}

}  // namespace

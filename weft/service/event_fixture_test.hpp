// What the tests of events share: a loop in memory with a bus, and the check that nothing is left.
//
//   using my_test = event_fixture;
//   TEST_F(my_test, hears) { events().publish(ping{}); settle(); }
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <weft/loop/loop_fixture_test.hpp>
#include <weft/service/event_bus.hpp>

namespace weft {

struct numbered {
  int number = 0;
};
struct ping {};

class event_fixture : public in_memory {
 protected:
  void SetUp() override { open_bus({}); }
  void open_bus(event_options options) {
    bus_.reset();
    if (loop_ == nullptr) open({.backend = backend_kind::simulated});
    bus_.emplace(options, *loop_);
  }
  void TearDown() override {
    if (bus_) run([](event_bus& bus) -> task<void> { std::ignore = co_await bus.stop(); }(*bus_));
    bus_.reset();
    settle();
    in_memory::TearDown();
  }

  event_bus& events() { return *bus_; }
  void run(task<void> work) {
    loop_->spawn(std::move(work));
    loop_->run();
  }
  /// Hears of every `numbered`, and keeps the numbers.
  event_registration note_numbers() {
    return events().on<numbered>([this](const numbered& e) { seen_.push_back(e.number); });
  }

  std::optional<event_bus> bus_;
  std::vector<int> seen_;
};

}  // namespace weft

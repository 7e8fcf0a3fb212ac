// Three services, wired by their constructors: the shop needs a kitchen, which needs a stove. They
// start in that order and stop in reverse, whatever the order of add().
//
//   services
//   services --kitchen.dishes=5 --print-config
#include <cstdio>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/application.hpp>

using namespace std::chrono_literals;

class stove {
 public:
  explicit stove(weft::event_loop& loop) : loop_{loop} {}

  // A coroutine: who needs a stove waits until it is hot.
  weft::task<weft::result<void>> start() {
    if (auto slept = co_await weft::sleep_for(loop_, 5ms); !slept) co_return slept;
    std::puts("the stove is hot");
    co_return weft::result<void>{};
  }
  void stop() { std::puts("the stove is off"); }

 private:
  weft::event_loop& loop_;
};

struct kitchen_options {
  int dishes = 2;
};

class kitchen {
 public:
  using options = kitchen_options;

  kitchen(kitchen_options given, stove&) : options_{given} {}
  void start() { std::printf("the kitchen has %d dishes\n", options_.dishes); }
  void stop() { std::puts("the kitchen is clean"); }
  [[nodiscard]] int dishes() const { return options_.dishes; }

 private:
  kitchen_options options_;
};

class shop {
 public:
  explicit shop(kitchen& behind) : kitchen_{behind} {}
  void start() {
    for (int i = 1; i <= kitchen_.dishes(); ++i) std::printf("dish %d is sold\n", i);
  }
  void stop() { std::puts("the shop is closed"); }

 private:
  kitchen& kitchen_;
};

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "A shop, its kitchen and their stove"}};
  app.add<shop>();
  app.add<kitchen>();
  app.add<stove>();
  app.on_ready([&app] { app.request_stop(); });
  return app.run();
}

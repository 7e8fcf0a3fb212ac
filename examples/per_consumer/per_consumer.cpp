// A ledger for each who asks: the consumer writes `ledger&`, and gets one of its own, which knows
// whose it is. All of them pay into one bank.
//
//   per_consumer
#include <cstdio>
#include <string>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/service/container.hpp>

class bank {
 public:
  void pay_in(int amount) { total_ += amount; }
  void stop() const { std::printf("the bank has %d\n", total_); }

 private:
  int total_ = 0;
};

class ledger {
 public:
  ledger(bank& all, weft::consumer whose) : bank_{all}, owner_{whose.type} {}
  void enter(int amount) {
    std::printf("%s enters %d\n", owner_.c_str(), amount);
    sum_ += amount;
    bank_.pay_in(amount);
  }
  void stop() const { std::printf("%s has earned %d\n", owner_.c_str(), sum_); }

 private:
  bank& bank_;
  std::string owner_;
  int sum_ = 0;
};

struct bakery {
  explicit bakery(ledger& own) : books{own} {}
  void start() {
    books.enter(3);
    books.enter(4);
  }
  ledger& books;
};

struct butcher {
  explicit butcher(ledger& own) : books{own} {}
  void start() { books.enter(20); }
  ledger& books;
};

weft::task<void> run(weft::container& services, bool& failed) {
  const auto started = co_await services.start();
  const auto stopped = co_await services.stop();
  failed = !started || !stopped;  // the log says what
}

int main() {
  auto loop = weft::event_loop::create({.backend = weft::backend_kind::automatic});
  if (!loop) return 1;
  weft::container services;
  services.add<bank>();
  services.add<ledger>().per_consumer();
  services.add<bakery>();
  services.add<butcher>();
  bool failed = false;
  (*loop)->spawn(run(services, failed));
  (*loop)->run();
  return failed ? 1 : 0;
}

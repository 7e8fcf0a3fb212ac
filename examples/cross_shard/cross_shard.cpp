// One order book for all shards: it lives on the first, and the others call its methods and wait
// for what they give, without a lock.
//
//   cross_shard --threads 4
#include <cstdio>
#include <map>
#include <string>

#include <weft/loop/event_loop.hpp>
#include <weft/service/application.hpp>

class order_book {
 public:
  // Called from all shards, run on one: arguments are values, which are moved there.
  int place(std::string item) { return ++orders_[std::move(item)]; }
  [[nodiscard]] weft::result<int> count(std::string item) const {
    const auto found = orders_.find(item);
    if (found == orders_.end()) return weft::fail(weft::errc::not_found);
    return found->second;
  }
  void stop() const {
    for (const auto& [item, times] : orders_) std::printf("%d times %s\n", times, item.c_str());
  }

 private:
  std::map<std::string, int> orders_;
};

// One on each shard; the book starts before any of them, and stops after all.
class waiter {
 public:
  waiter(weft::remote<order_book>& orders, weft::event_loop& loop) : orders_{orders}, loop_{loop} {}

  weft::task<weft::result<void>> start() {
    for (int i = 0; i < 10; ++i) {
      const auto placed = co_await orders_.call(&order_book::place, std::string{"soup"});
      if (!placed) co_return weft::fail(placed.error());
    }
    const auto cakes = co_await orders_.call(&order_book::count, std::string{"cake"});
    std::printf("shard %u: %s\n", loop_.shard(),
                cakes ? "there is cake" : cakes.error().message().c_str());
    co_return weft::result<void>{};
  }

 private:
  weft::remote<order_book>& orders_;
  weft::event_loop& loop_;
};

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Waiters who share an order book", .threads = 4}};
  app.add<order_book>().single();
  app.add<waiter>();
  app.on_ready([&app] { app.request_stop(); });
  return app.run();
}

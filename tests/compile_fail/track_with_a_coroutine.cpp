// expect: what track() calls gives nothing: what waits is a task of the service's lifetime
#include <weft/service/container.hpp>

struct store {};

class watcher {
 public:
  watcher(weft::container& services, weft::lifetime& own) {
#ifdef MISTAKE
    services.track<store>([this](store& one) { return greet(one); }, [](store&) {});
    static_cast<void>(own);
#else
    services.track<store>([this, &own](store& one) { own.spawn(greet(one)); }, [](store&) {});
#endif
  }

 private:
  weft::task<void> greet(store&) { co_return; }
};

void compose(weft::container& services) { services.add<watcher>(); }

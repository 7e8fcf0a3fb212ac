// expect: bind<I>() is for what the constructor asks for: `I&` or weft::maybe<I>
#include <weft/service/container.hpp>

struct store {};
struct cache {};
struct api {
#ifdef MISTAKE
  explicit api(cache&) {}
#else
  explicit api(store&) {}
#endif
};

void compose(weft::container& services, weft::service_handle orders) {
  services.add<api>().bind<store>(orders);
}

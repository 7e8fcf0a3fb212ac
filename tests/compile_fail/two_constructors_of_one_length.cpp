// expect: with several of one length, say which by `using inject = weft::dependencies<A&, B&>;`
#include <weft/service/container.hpp>

struct clock_service {};
struct store {};

class api {
 public:
#ifndef MISTAKE
  using inject = weft::dependencies<store&>;
#endif
  explicit api(store&) {}
  explicit api(clock_service&) {}
};

void compose(weft::container& services) { services.add<api>(); }

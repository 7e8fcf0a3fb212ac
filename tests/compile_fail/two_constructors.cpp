// expect: a service has one constructor besides copy and move; with several, say which by `using
// inject
#include <weft/service/container.hpp>

struct clock_service {};
struct store {};

class api {
 public:
  explicit api(store&) {}
#ifdef MISTAKE
  api(store&, clock_service&) {}
#endif
};

void compose(weft::container& services) { services.add<api>(); }

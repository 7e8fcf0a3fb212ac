// expect: a service has one constructor besides copy and move; with several, say which by `using
// inject
#include <weft/service/container.hpp>

struct store {};
struct api_options {
  int limit = 10;
};

class api {
 public:
  using options = api_options;
  api(options, store&) {}
#ifdef MISTAKE
  explicit api(store&) {}
#endif
};

void compose(weft::container& services) { services.add<api>({.limit = 5}); }

// expect: services are injected by reference: write `T&`, not `T` or `const T&`; values belong into
// the options
#include <weft/service/container.hpp>

struct store {};

class api {
 public:
#ifdef MISTAKE
  explicit api(const store&) {}
#else
  explicit api(store&) {}
#endif
};

void compose(weft::container& services) { services.add<api>(); }

// expect: services are injected by reference: write `T&`
#include <weft/service/container.hpp>

struct store {};

class api {
 public:
#ifdef MISTAKE
  using inject = weft::dependencies<store>;
#else
  using inject = weft::dependencies<store&>;
#endif
  api() = default;
  explicit api(store&) {}
};

void compose(weft::container& services) { services.add<api>(); }

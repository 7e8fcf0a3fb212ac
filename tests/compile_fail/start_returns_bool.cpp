// expect: start() and stop() give void, weft::result<void> or weft::task<weft::result<void>>
#include <weft/service/container.hpp>

class api {
 public:
#ifdef MISTAKE
  bool start() { return true; }
#else
  weft::result<void> start() { return {}; }
#endif
};

void compose(weft::container& services) { services.add<api>(); }

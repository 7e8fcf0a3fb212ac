// expect: services are injected by reference: write `T&`, not `T` or `const T&`; values belong into
// the options
#include <weft/service/container.hpp>

struct store {};
struct api_options {
  int port = 80;
};

class api {
 public:
#ifdef MISTAKE
  api(store&, int port) : port_{port} {}
#else
  using options = api_options;
  api(options given, store&) : port_{given.port} {}
#endif
  int port() const { return port_; }

 private:
  int port_;
};

void compose(weft::container& services) { services.add<api>(); }

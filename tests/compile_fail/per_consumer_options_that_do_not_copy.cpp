// expect: options of a service that is per consumer are copied for each: make them copyable
#include <memory>

#include <weft/service/container.hpp>

struct logger_options {
#ifdef MISTAKE
  std::unique_ptr<int> level;
#else
  std::shared_ptr<int> level;
#endif
};
struct logger {
  using options = logger_options;
  explicit logger(logger_options) {}
};

void compose(weft::container& services) { services.add<logger>().per_consumer(); }

// expect: values belong into a struct that the class names by `using options = my_options;`
#include <weft/service/container.hpp>

struct oven_options {
  int loaves = 10;
};

class oven {
 public:
#ifndef MISTAKE
  using options = oven_options;
#endif
  explicit oven(oven_options given) : loaves_{given.loaves} {}

 private:
  int loaves_;
};

void compose(weft::container& services) { services.add<oven>(); }

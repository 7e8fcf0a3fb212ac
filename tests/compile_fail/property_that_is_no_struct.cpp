// expect: a property is a struct of its own, by which it is found
#include <string>

#include <weft/service/container.hpp>

struct store {};
struct region {
  std::string name;
};

void compose(weft::container& services) {
#ifdef MISTAKE
  services.add<store>().with("eu");
#else
  services.add<store>().with(region{"eu"});
#endif
}

// expect: a T is made, so name the class that implements it: `add<file_store>().as<store>()`
#include <weft/service/container.hpp>

struct store {
  virtual ~store() = default;
  virtual int read(int key) = 0;
};

struct file_store : store {
  int read(int key) override { return key; }
};

void compose(weft::container& services) {
#ifdef MISTAKE
  services.add<store>();
#else
  services.add<file_store>().as<store>();
#endif
}

// expect: instead_of<I>() takes the place of an I: derive publicly from it
#include <weft/service/container.hpp>

struct store {};

#ifdef MISTAKE
struct false_store {};
#else
struct false_store : store {};
#endif

void compose(weft::container& services) {
  services.add<store>();
  services.add<false_store>().instead_of<store>();
}

// expect: as<I>() names what the service is: it derives publicly from each I
#include <weft/service/container.hpp>

struct store {};
#ifdef MISTAKE
class file_store : store {};
#else
class file_store : public store {};
#endif

void compose(weft::container& services) { services.add<file_store>().as<store>(); }

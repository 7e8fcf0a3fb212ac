// expect: publish one that holds values alone
#include <weft/service/event_bus.hpp>

struct session_opened {
#ifdef MISTAKE
  using stays_on_its_shard = void;
#endif
  int number = 0;
};

void tell(weft::event_bus& events) {
  static_cast<void>(events.publish(session_opened{.number = 1}, weft::to_shard{2}));
}

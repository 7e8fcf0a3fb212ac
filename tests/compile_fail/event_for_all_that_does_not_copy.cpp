// expect: an event for all shards is copied to each
#include <memory>
#include <utility>

#include <weft/service/event_bus.hpp>

struct picture_taken {
  std::unique_ptr<int> pixels;
};

void tell(weft::event_bus& events, picture_taken picture) {
#ifdef MISTAKE
  static_cast<void>(events.publish(picture, weft::to_all_shards));
#else
  static_cast<void>(events.publish(std::move(picture), weft::to_shard{2}));
#endif
}

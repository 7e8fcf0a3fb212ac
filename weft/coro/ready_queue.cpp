#include <weft/coro/ready_queue.hpp>

#include <weft/coro/task.hpp>

namespace weft {

void giving_way::go_on(runnable& self) noexcept {
  detail::resume(static_cast<giving_way&>(self).waiting);
}

}  // namespace weft

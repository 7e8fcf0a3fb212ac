#include <weft/coro/running_task.hpp>

namespace weft::detail {

constinit thread_local running_task running;

}  // namespace weft::detail

#include "load.hpp"

#include <memory>

#include "load_loop.hpp"

namespace weft::bench {

load_result run_load(const load_plan& plan, const volatile std::sig_atomic_t& stop,
                     load_observer* observer) {
  // Too large for the stack together with its buffers.
  return std::make_unique<load_loop>(plan, stop, observer)->run();
}

}  // namespace weft::bench

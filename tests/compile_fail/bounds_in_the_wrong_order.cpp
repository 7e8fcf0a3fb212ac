// expect: must be initialized by a constant expression
#include <weft/base/bounds.hpp>

struct greeting {
  int times = 1;
  static constexpr auto bounds() {
#ifdef MISTAKE
    return weft::bounds(weft::within<&greeting::times>(9, 1));
#else
    return weft::bounds(weft::within<&greeting::times>(1, 9));
#endif
  }
};

static_assert(weft::detail::bounds_of<greeting>.size() == 1);

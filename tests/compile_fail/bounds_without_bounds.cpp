// expect: bounds() of a struct returns weft::bounds(...)
#include <weft/base/bounds.hpp>

struct greeting {
  int times = 1;
  static constexpr auto bounds() {
#ifdef MISTAKE
    return weft::within<&greeting::times>(1, 9);
#else
    return weft::bounds(weft::within<&greeting::times>(1, 9));
#endif
  }
};

static_assert(weft::detail::bounds_of<greeting>.size() == 1);

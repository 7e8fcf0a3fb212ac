// expect: bounds are for whole numbers, floating point and durations
#include <string>

#include <weft/base/bounds.hpp>

struct greeting {
  std::string name;
  int times = 1;
  static constexpr auto bounds() {
#ifdef MISTAKE
    return weft::bounds(weft::within<&greeting::name>('a', 'z'));
#else
    return weft::bounds(weft::within<&greeting::times>(1, 9));
#endif
  }
};

static_assert(weft::detail::bounds_of<greeting>.size() == 1);

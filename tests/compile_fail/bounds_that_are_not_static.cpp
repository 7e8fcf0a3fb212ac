// expect: bounds() of a struct is a static function
#include <weft/base/bounds.hpp>

struct greeting {
  int times = 1;
#ifdef MISTAKE
  constexpr auto bounds() const {
#else
  static constexpr auto bounds() {
#endif
      return weft::bounds(weft::within<&greeting::times>(1, 9));
}
}
;

static_assert(weft::detail::has_bounds<greeting>);

// expect: a value of a line is copied byte by byte: give a number, a text or a plain struct
#include <vector>

#include <weft/realtime/deferred_log.hpp>

void tell(weft::realtime::deferred_log& log, const std::vector<int>& levels) {
#ifdef MISTAKE
  log.write(weft::log::level::info, "{}", levels);
#else
  log.write(weft::log::level::info, "{}", levels.front());
#endif
}

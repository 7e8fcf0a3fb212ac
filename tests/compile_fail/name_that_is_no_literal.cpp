// expect: call to consteval function
#include <string>

#include <weft/realtime/periodic.hpp>

weft::realtime::periodic_options named(const std::string& name) {
#ifdef MISTAKE
  return {.period = std::chrono::milliseconds{1}, .name = name.c_str()};
#else
  (void)name;
  return {.period = std::chrono::milliseconds{1}, .name = "control"};
#endif
}

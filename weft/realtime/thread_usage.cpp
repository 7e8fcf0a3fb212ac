#include <weft/realtime/thread_usage.hpp>

#include <sys/resource.h>
#include <time.h>

namespace weft::realtime {

duration thread_usage::read_processor() noexcept {
  timespec on{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &on);
  return std::chrono::seconds{on.tv_sec} + duration{on.tv_nsec};
}

thread_usage thread_usage::read() noexcept {
  const duration on = read_processor();
  rusage counts{};
  ::getrusage(RUSAGE_THREAD, &counts);
  return {.processor = on,
          .preemptions = counts.ru_nivcsw,
          .waits = counts.ru_nvcsw,
          .minor_faults = counts.ru_minflt,
          .major_faults = counts.ru_majflt};
}

thread_usage operator-(const thread_usage& late, const thread_usage& early) noexcept {
  return {.processor = late.processor - early.processor,
          .preemptions = late.preemptions - early.preemptions,
          .waits = late.waits - early.waits,
          .minor_faults = late.minor_faults - early.minor_faults,
          .major_faults = late.major_faults - early.major_faults};
}

}  // namespace weft::realtime

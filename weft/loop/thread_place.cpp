#include <weft/loop/thread_place.hpp>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>

namespace weft {
namespace {

constexpr std::size_t name_bytes_max = 15;

/// The `wanted`th of `cpus`.
unsigned nth_cpu(const cpu_set_t& cpus, unsigned wanted) noexcept {
  unsigned cpu = 0;
  while (!CPU_ISSET(cpu, &cpus) || wanted-- != 0) ++cpu;
  return cpu;
}

void pin_to(unsigned cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (const int code = ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one); code != 0)
    log::warning(weft::format("a thread cannot be pinned to CPU {}: {}", cpu,
                              std::system_category().message(code)));
}

}  // namespace

unsigned usable_cpus() noexcept {
  cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  return std::max(1U, static_cast<unsigned>(CPU_COUNT(&cpus)));
}

void place_thread(const thread_place& place) {
  const std::string number = weft::format(" {}", place.index);
  const std::string name =
      std::string{place.name.substr(0, name_bytes_max - number.size())} + number;
  ::pthread_setname_np(::pthread_self(), name.c_str());

  cpu_set_t cpus;
  if (place.pin == pinning::never || ::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return;
  const auto count = static_cast<unsigned>(CPU_COUNT(&cpus));
  if (place.of <= count || place.pin == pinning::always) pin_to(nth_cpu(cpus, place.index % count));
}

void unpin_thread() {
  cpu_set_t cpus;
  if (::sched_getaffinity(::getpid(), sizeof cpus, &cpus) == 0)
    ::pthread_setaffinity_np(::pthread_self(), sizeof cpus, &cpus);
}

}  // namespace weft

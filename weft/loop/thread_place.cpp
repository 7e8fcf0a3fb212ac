#include <weft/loop/thread_place.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

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

/// Of the main thread when this was first asked for: before anything was pinned.
const std::optional<cpu_set_t>& cpus_of_program() noexcept {
  static const std::optional<cpu_set_t> found = [] {
    std::optional<cpu_set_t> all{std::in_place};
    if (::sched_getaffinity(::getpid(), sizeof *all, &*all) != 0) all.reset();
    return all;
  }();
  return found;
}

void pin_to(unsigned cpu) {
  if (const int code = pin_thread(cpu); code != 0)
    log::warning(weft::format("a thread cannot be pinned to CPU {}: {}", cpu,
                              std::system_category().message(code)));
}

void be_nicer(int more) {
  errno = 0;
  const int now = ::getpriority(PRIO_PROCESS, 0);  // of this thread, on Linux
  if (errno == 0 && ::setpriority(PRIO_PROCESS, 0, now + more) == 0) return;
  log::warning(
      weft::format("a thread keeps its priority: {}", std::system_category().message(errno)));
}

}  // namespace

unsigned usable_cpus() noexcept {
  cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  return std::max(1U, static_cast<unsigned>(CPU_COUNT(&cpus)));
}

unsigned last_usable_cpu() noexcept {
  cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 0;
  unsigned cpu = CPU_SETSIZE - 1;
  while (cpu != 0 && !CPU_ISSET(cpu, &cpus)) --cpu;
  return cpu;
}

void place_thread(const thread_place& place) {
  const std::string number = weft::format(" {}", place.index);
  const std::string name =
      std::string{place.name.substr(0, name_bytes_max - number.size())} + number;
  // For people alone; the name is short enough.
  ::pthread_setname_np(::pthread_self(), name.c_str());

  if (place.nice_more != 0) be_nicer(place.nice_more);
  cpu_set_t cpus;
  if (place.pin == pinning::never || ::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return;
  const auto count = static_cast<unsigned>(CPU_COUNT(&cpus));
  if (place.of <= count || place.pin == pinning::always) pin_to(nth_cpu(cpus, place.index % count));
}

int pin_thread(unsigned cpu) noexcept {
  if (cpu >= CPU_SETSIZE) return EINVAL;
  cpus_of_program();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one);
}

void unpin_thread(pthread_t made) noexcept {
  // Where it is refused the thread runs where its maker does.
  if (const auto& cpus = cpus_of_program()) ::pthread_setaffinity_np(made, sizeof *cpus, &*cpus);
}

}  // namespace weft

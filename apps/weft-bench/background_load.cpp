#include "background_load.hpp"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

#include <weft/loop/thread_place.hpp>

namespace weft::bench {
namespace {

constexpr std::size_t copied_bytes = 64 * 1024 * 1024;

std::vector<unsigned> other_cpus(unsigned spared) {
  std::vector<unsigned> others;
  cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return others;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (cpu != spared && CPU_ISSET(cpu, &cpus)) others.push_back(cpu);
  return others;
}

void spin(const std::atomic<bool>& ends) {
  while (!ends.load(std::memory_order_relaxed)) {}
}

void copy(const std::atomic<bool>& ends) {
  std::vector<std::byte> from(copied_bytes / 2);
  std::vector<std::byte> to(copied_bytes / 2);
  while (!ends.load(std::memory_order_relaxed)) {
    std::memcpy(to.data(), from.data(), to.size());
    std::memcpy(from.data(), to.data(), to.size());
  }
}

/// A socket that talks to itself: every datagram goes through the loopback interface, and its
/// interrupt.
void talk(const std::atomic<bool>& ends) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  auto* const address = reinterpret_cast<sockaddr*>(&here);
  const bool is_open = fd >= 0 && ::bind(fd, address, size) == 0 &&
                       ::getsockname(fd, address, &size) == 0 && ::connect(fd, address, size) == 0;
  std::array<std::byte, 1400> datagram{};
  while (is_open && !ends.load(std::memory_order_relaxed))
    if (::send(fd, datagram.data(), datagram.size(), 0) < 0 ||
        ::recv(fd, datagram.data(), datagram.size(), 0) < 0)
      break;
  if (fd >= 0) ::close(fd);
}

}  // namespace

std::string_view to_string(load_kind kind) noexcept {
  switch (kind) {
    case load_kind::idle: return "idle";
    case load_kind::cpu: return "cpu";
    case load_kind::memory: return "memory";
    case load_kind::network: return "network";
  }
  return "unknown";
}

background_load::background_load(load_kind kind, unsigned spared_cpu) {
  if (kind == load_kind::idle) return;
  constexpr std::array<void (*)(const std::atomic<bool>&), 4> works{nullptr, &spin, &copy, &talk};
  const auto work = works.at(static_cast<std::size_t>(kind));
  for (const unsigned cpu : other_cpus(spared_cpu)) {
    threads_.emplace_back([this, work, cpu] {
      if (pin_thread(cpu) == 0) work(ends_);
    });
    if (kind == load_kind::network) break;
  }
}

background_load::~background_load() {
  ends_ = true;
  for (std::thread& each : threads_) each.join();
}

}  // namespace weft::bench

#include "workload.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <weft/base/format.hpp>

/// mimalloc's, in a program that is linked with it.
extern "C" [[gnu::weak]] void mi_collect(bool force) noexcept;

namespace weft::bench {
namespace {

constexpr double bytes_per_mb = 1e6;

/// How this program was built, and whose malloc it has been linked with.
std::string variant() {
#ifdef _LIBCPP_VERSION
  const std::string_view library = "libc++";
  const bool is_hardened = _LIBCPP_HARDENING_MODE != _LIBCPP_HARDENING_MODE_NONE;
#else
  const std::string_view library = "libstdc++";
#ifdef _GLIBCXX_ASSERTIONS
  const bool is_hardened = true;
#else
  const bool is_hardened = false;
#endif
#endif
#ifdef WEFT_FLAT_CONTAINERS
  const std::string_view containers = "flat";
#else
  const std::string_view containers = "std";
#endif
  return weft::format("{}, {} containers, {}, hardening {}", library, containers,
                      mi_collect != nullptr ? "mimalloc" : "system malloc",
                      is_hardened ? "on" : "off");
}

/// The most memory this process has had.
double peak_rss_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / bytes_per_mb;
}

/// What this process has now that all has ended: the code it ran, and what is nobody's.
double rest_rss_mb() {
  if (mi_collect != nullptr) mi_collect(true);
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
  std::size_t pages = 0;
  if (std::FILE* const status = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(status, "%*u %zu", &pages) != 1) pages = 0;  // NOLINT(cert-err34-c)
    std::fclose(status);
  }
  return static_cast<double>(pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) /
         bytes_per_mb;
}

double bytes_per_service(const workload_share& all) {
  return (peak_rss_mb() - rest_rss_mb()) * bytes_per_mb / static_cast<double>(all.services);
}

/// What only some workloads have.
std::string more_figures(const workload_share& done, bool json) {
  if (done.p99_ns != 0)
    return json ? weft::format(R"(, "p50_ns": {}, "p99_ns": {}, "max_ns": {})", done.p50_ns,
                               done.p99_ns, done.max_ns)
                : weft::format(", told after {} ns (p50), {} (p99), {} at most", done.p50_ns,
                               done.p99_ns, done.max_ns);
  if (done.services == 0) return {};
  const double each = bytes_per_service(done);
  return json
             ? weft::format(R"(, "services": {}, "bytes_per_service": {:.0f})", done.services, each)
             : weft::format(", {} services of {:.0f} bytes", done.services, each);
}

std::string figures(const workload& what, const workload_options& options,
                    const workload_share& done, double seconds) {
  const double rate = static_cast<double>(done.dispatched) / seconds;
  const double queue_mb = static_cast<double>(done.queue_bytes_max) / bytes_per_mb;
  const std::string more = more_figures(done, options.json);
  if (options.json)
    return weft::format(
        R"({{"workload": "{}", "variant": "{}", "threads": {}, "count": {}, "dispatched": {}, )"
        R"("seconds": {:.6f}, "rate_per_s": {:.4g}, "peak_rss_mb": {:.1f}, )"
        R"("queue_peak_mb": {:.2f}{}}})"
        "\n",
        what.name, variant(), options.threads, options.count, done.dispatched, seconds, rate,
        peak_rss_mb(), queue_mb, more);
  return weft::format(
      "{}, {} threads: {} done in {:.3f} s, {:.3g}/s, peak {:.1f} MB, queue {:.2f} MB{}\n",
      what.name, options.threads, done.dispatched, seconds, rate, peak_rss_mb(), queue_mb, more);
}

/// In a process of its own.
int run_phase(const workload& what, const workload_options& options) {
  std::vector<workload_share> shares(options.threads);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < options.threads; ++i)
    threads.emplace_back([&, i] { shares[i] = what.run(options); });
  shares[0] = what.run(options);
  for (std::thread& each : threads) each.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;

  workload_share all;
  for (const workload_share& each : shares) {
    all.dispatched += each.dispatched;
    all.queue_bytes_max += each.queue_bytes_max;
    all.services += each.services;
    all.p50_ns = std::max(all.p50_ns, each.p50_ns);
    all.p99_ns = std::max(all.p99_ns, each.p99_ns);
    all.max_ns = std::max(all.max_ns, each.max_ns);
    all.is_right = all.is_right && each.is_right;
  }
  const std::string line = figures(what, options, all, took.count());
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
  if (all.is_right) return 0;
  std::fprintf(stderr, "weft-bench: not all was done, or not in order\n");
  return 1;
}

int run_in_process(const workload& what, const workload_options& options) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    std::fprintf(stderr, "weft-bench: no process for this phase: %s\n", std::strerror(errno));
    return 1;
  }
  if (child == 0) ::_exit(run_phase(what, options));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int run_workload(const workload& what, const workload_options& options) {
  workload_options alone = options;
  if (alone.count == 0) alone.count = what.count;
  workload_options together = alone;
  alone.threads = 1;
  const int first = run_in_process(what, alone);
  if (first != 0 || together.threads == 1) return first;
  return run_in_process(what, together);
}

}  // namespace weft::bench

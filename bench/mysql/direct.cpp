// Looks up batches of rows by their keys as a plain client of MariaDB Connector/C does, a thread
// and a connection each with one prepared statement, as fast as it can or at a rate; what
// bench/mysql/compare sets weftd beside.
//
//   direct PORT USER PASSWORD CONNECTIONS KEYS ROWS SECONDS RATE
//
// KEYS: in a batch, at random among 1 to ROWS. RATE: batches a second, 0: as many as there may be.
// Says on stdout, in JSON, how many there were, and how long they took from when they were due.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "batch_client.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using time_point = clock_type::time_point;

constexpr std::chrono::seconds warm_up{1};

struct plan {
  batch_source from;
  unsigned connections;
  double seconds;
  double rate;
};

class client {
 public:
  client(const plan& of, unsigned number) : plan_{of}, number_{number}, asks_{of.from, number} {}

  void run(time_point begin, time_point measured_from, time_point end) {
    const std::chrono::duration<double> step{plan_.rate > 0 ? plan_.connections / plan_.rate : 0};
    const auto pause = std::chrono::duration_cast<clock_type::duration>(step);
    for (time_point due = begin + pause * number_ / plan_.connections;; due += pause) {
      if (plan_.rate > 0)
        std::this_thread::sleep_until(due);
      else
        due = clock_type::now();
      if (due >= end) return;
      asks_.look_up();
      if (due >= measured_from) took_.push_back(clock_type::now() - due);
    }
  }

  [[nodiscard]] const std::vector<clock_type::duration>& took() const { return took_; }

 private:
  const plan& plan_;
  unsigned number_;
  batch_client asks_;
  std::vector<clock_type::duration> took_;
};

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

double percentile_us(const std::vector<clock_type::duration>& sorted, double part) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1));
  return std::chrono::duration<double, std::micro>{sorted[at]}.count();
}

void run(const plan& of) {
  std::vector<std::unique_ptr<client>> clients;
  clients.reserve(of.connections);
  for (unsigned i = 0; i < of.connections; ++i) clients.push_back(std::make_unique<client>(of, i));
  const time_point begin = clock_type::now();
  const time_point measured_from = begin + warm_up;
  const std::chrono::duration<double> length{of.seconds};
  const time_point end = measured_from + std::chrono::duration_cast<clock_type::duration>(length);
  std::vector<std::thread> threads;
  threads.reserve(clients.size());
  for (const auto& each : clients)
    threads.emplace_back([&] { each->run(begin, measured_from, end); });
  std::this_thread::sleep_until(measured_from);
  const double before = cpu_seconds();
  for (std::thread& each : threads) each.join();
  const double used = cpu_seconds() - before;
  std::vector<clock_type::duration> took;
  for (const auto& each : clients)
    took.insert(took.end(), each->took().begin(), each->took().end());
  std::ranges::sort(took);
  std::printf(
      "{\"batches\":%zu,\"seconds\":%g,\"cpu_seconds\":%.3f,\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
      took.size(), of.seconds, used, percentile_us(took, 0.5), percentile_us(took, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int arguments = 9;
  if (argc != arguments) {
    std::fputs("usage: direct PORT USER PASSWORD CONNECTIONS KEYS ROWS SECONDS RATE\n", stderr);
    return 2;
  }
  const auto number = [argv](int at) { return static_cast<unsigned>(std::atoi(argv[at])); };
  run({.from = {.port = number(1),
                .user = argv[2],
                .password = argv[3],
                .keys = number(5),
                .rows = number(6)},
       .connections = number(4),
       .seconds = std::atof(argv[7]),
       .rate = std::atof(argv[8])});
}

// A controller that works a thousand times a second, and what became of it: when it was woken, how
// long it took, what it asked of the heap. What it missed, and why, is in the log meanwhile.
//
//   periodic                                    as root, or with cap_sys_nice and cap_ipc_lock
//   periodic --control.period=100us --control.runs=100000
//   periodic --realtime.policy=other            as one of many
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/thread_place.hpp>
#include <weft/realtime/allocation_guard.hpp>
#include <weft/realtime/deadline_miss_format.hpp>
#include <weft/realtime/deferred_log.hpp>
#include <weft/realtime/periodic.hpp>
#include <weft/service/application.hpp>
#include <weft/service/lifetime.hpp>

namespace realtime = weft::realtime;
using namespace std::chrono_literals;

struct control_options {
  weft::duration period = 1ms;
  weft::duration deadline = 500us;
  std::uint64_t runs = 5000;
  std::uint64_t warm_up = 100;

  static constexpr auto bounds() {
    return weft::bounds(weft::at_least<&control_options::period>(10us));
  }
};

class control {
 public:
  using options = control_options;

  control(control_options options, weft::event_loop& loop, weft::lifetime& own)
      : options_{options},
        loop_{loop},
        clock_{loop, {.period = options.period, .deadline = options.deadline, .name = "control"}} {
    clock_.on_miss([this](const realtime::deadline_miss& miss) {
      log_.write(weft::log::level::warning, "{}", miss);
    });
    own.spawn(work());
  }

 private:
  weft::task<void> work() {
    for (std::uint64_t i = 0; i < options_.warm_up; ++i)
      if (!co_await clock_.next()) co_return;
    const realtime::thread_usage before = realtime::thread_usage::read();
    const realtime::allocation_guard guard{realtime::on_allocation::count};
    for (std::uint64_t i = 0; i < options_.runs; ++i) {
      if (!co_await clock_.next()) co_return;
      control_once();
    }
    const std::uint64_t allocations = guard.allocations();
    report(realtime::thread_usage::read() - before, allocations);
    loop_.request_stop();
  }

  /// A proportional and integral controller of something that loses a tenth of what it has.
  void control_once() noexcept {
    const double error = 1 - level_;
    integral_ += error * 0.01;
    level_ = 0.9 * level_ + 0.2 * error + integral_;
  }

  // The time for this thread to write, and to allocate, is when all is over.
  void report(const realtime::thread_usage& used, std::uint64_t allocations) const {
    const realtime::periodic_record& record = clock_.record();
    std::printf("runs %llu, skipped %llu, misses %llu\n", as_long(record.runs),
                as_long(record.skipped), as_long(record.misses));
    std::printf("%-10s %9s %9s %9s %9s\n", "in us", "p50", "p99", "p99.99", "max");
    print("latency", record.latency);
    print("response", record.response);
    print("execution", record.execution);
    const std::string asked =
        realtime::allocation_guard::is_watched() ? std::to_string(allocations) : "not watched";
    std::printf("page faults %s, allocations %s\n",
                std::to_string(used.minor_faults + used.major_faults).c_str(), asked.c_str());
  }
  static void print(const char* what, const weft::telemetry::distribution& of) {
    const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
    std::printf("%-10s %9.1f %9.1f %9.1f %9.1f\n", what, us(of.percentile(50)),
                us(of.percentile(99)), us(of.percentile(99.99)), us(of.max()));
  }
  static unsigned long long as_long(std::uint64_t number) { return number; }

  control_options options_;
  weft::event_loop& loop_;
  realtime::deferred_log log_{{.name = "control"}};
  realtime::periodic clock_;
  double level_ = 0;
  double integral_ = 0;
};

int main(int argc, char** argv) {
  weft::application app{argc,
                        argv,
                        {.about = "A controller, a thousand times a second",
                         .realtime = {.policy = realtime::scheduling::fifo,
                                      .priority = 20,
                                      .cpus = {weft::last_usable_cpu()},
                                      .lock_memory = true,
                                      .stack_bytes = 256 * 1024,
                                      .heap_bytes = 4 * 1024 * 1024,
                                      .timer_slack = 1us,
                                      .keep_processors_awake = true}}};
  app.add<control>();
  return app.run();
}

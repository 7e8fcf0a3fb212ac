// Integer work of some 140 us, back to back, on a thread that goes before all others: whatever
// makes a run longer is the system's doing. Linux takes the processor from such a thread for 50 ms
// of each second, which the lines show.
//
//   realtime                                     as root, or with cap_sys_nice and cap_ipc_lock
//   realtime --worker.runs=20000 --worker.limit=500us
//   realtime --realtime.policy=other             as one of many
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>

#include <weft/base/bounds.hpp>
#include <weft/base/random.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/thread_place.hpp>
#include <weft/service/application.hpp>
#include <weft/service/event_bus.hpp>

using namespace std::chrono_literals;
using weft::duration;

/// After what time a sound is most like itself, which is its pitch: in whole numbers, for a second
/// of noise.
class pitch_search {
 public:
  pitch_search() {
    weft::random chance{1};
    for (std::int16_t& each : samples_) each = static_cast<std::int16_t>(chance.between(-99, 99));
  }

  [[nodiscard]] unsigned run() const noexcept {
    unsigned sum = 0;
    for (std::size_t frame = longest; frame + frame_samples <= samples_.size(); frame += 17)
      sum += best_lag(frame);
    return sum;
  }

 private:
  static constexpr std::size_t frame_samples = 40;
  static constexpr unsigned shortest = 40;
  static constexpr unsigned longest = 120;

  /// How many samples earlier the frame was most like itself.
  [[nodiscard]] unsigned best_lag(std::size_t frame) const noexcept {
    std::int32_t most = 0;
    unsigned best = shortest;
    for (unsigned lag = shortest; lag <= longest; ++lag) {
      std::int32_t likeness = 0;
      for (std::size_t i = frame; i < frame + frame_samples; ++i)
        likeness += (samples_[i] * samples_[i - lag]) >> 3;
      if (likeness > most) {
        most = likeness;
        best = lag;
      }
    }
    return best;
  }

  std::array<std::int16_t, 8000> samples_{};
};

struct run_again {};

/// Two of them are to be there before the work begins: where they are from is nobody's concern.
struct companion {};

struct worker_options {
  std::uint64_t runs = 5000;
  duration limit = 2ms;

  static constexpr auto bounds() { return weft::bounds(weft::at_least<&worker_options::runs>(1)); }
};

class worker {
 public:
  using options = worker_options;

  worker(worker_options options, weft::many<companion> companions, weft::event_bus& events,
         weft::event_loop& loop)
      : options_{options}, events_{events}, loop_{loop} {
    events.on<run_again>([this](const run_again&) { run(); });
    if (std::distance(companions.begin(), companions.end()) == 2) again();
  }

  void report() const {
    const auto us = [](duration of) { return of / 1us; };
    std::printf("duration min/max/avg: %s/%s/%s µs\n", grouped(us(least_)).c_str(),
                grouped(us(most_)).c_str(),
                grouped(us(sum_ / static_cast<duration::rep>(options_.runs))).c_str());
  }

 private:
  void again() { (void)events_.publish(run_again{}, weft::priority::high); }

  void run() {
    const auto begun = std::chrono::steady_clock::now();
    found_ = found_ + search_.run();
    const duration took = std::chrono::steady_clock::now() - begun;
    least_ = std::min(least_, took);
    most_ = std::max(most_, took);
    sum_ += took;
    ++done_;
    if (took > options_.limit)
      std::printf("duration of run %s is %s µs which exceeded maximum of %s µs\n",
                  grouped(static_cast<std::int64_t>(done_)).c_str(), grouped(took / 1us).c_str(),
                  grouped(options_.limit / 1us).c_str());
    if (done_ < options_.runs) return again();
    report();
    loop_.request_stop();
  }

  /// 51,101
  static std::string grouped(std::int64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return text;
  }

  worker_options options_;
  weft::event_bus& events_;
  weft::event_loop& loop_;
  pitch_search search_;
  volatile unsigned found_ = 0;  // so that the work is not left out
  std::uint64_t done_ = 0;
  duration least_ = duration::max();
  duration most_{};
  duration sum_{};
};

int main(int argc, char** argv) {
  weft::application app{argc,
                        argv,
                        {.about = "Work that is interrupted by nobody but the system",
                         .stall_limit = duration::zero(),  // it keeps its shard on purpose
                         .log_level = weft::log::level::warning,
                         .realtime = {.policy = weft::realtime::scheduling::fifo,
                                      .priority = 20,
                                      .cpus = {weft::last_usable_cpu()},
                                      .lock_memory = true,
                                      .stack_bytes = 256 * 1024,
                                      .heap_bytes = 4 * 1024 * 1024,
                                      .keep_processors_awake = true}}};
  app.add<weft::event_bus>();
  app.add<companion>().named("first");
  app.add<companion>().named("second");
  app.add<worker>();
  return app.run();
}

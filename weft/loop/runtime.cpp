#include <weft/loop/runtime.hpp>

#include <condition_variable>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/loop/sleep.hpp>

namespace weft {
namespace {

unsigned shard_count(const runtime_options& options) noexcept {
  return options.shards != 0 ? options.shards : usable_cpus();
}

/// A shard has work for others to give it until it is asked to stop.
task<void> serve_others(event_loop& loop) { co_await until_stopped{loop}; }

}  // namespace

/// Where all wait for each other, so that the first has somebody to talk to.
class runtime::start_line {
 public:
  explicit start_line(unsigned runners) noexcept : missing_{runners} {}

  void arrived(std::optional<error> why_not = {}) {
    const std::lock_guard lock{mutex_};
    if (!why_not_) why_not_ = why_not;
    if (--missing_ == 0) all_here_.notify_all();
  }
  /// Until all have arrived; then the first failure.
  std::optional<error> wait() {
    std::unique_lock lock{mutex_};
    all_here_.wait(lock, [this] { return missing_ == 0; });
    return why_not_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  unsigned missing_;
  std::optional<error> why_not_;
};

runtime::runtime(runtime_options options)
    : options_{std::move(options)}, mesh_{shard_count(options_), options_.mesh} {}

runtime::~runtime() {
  request_stop();
  for (std::thread& each : threads_)
    if (each.joinable()) each.join();
}

result<void> runtime::start(main_function main) {
  WEFT_ASSERT(threads_.empty(), "a runtime starts once");
  main_ = std::move(main);
  const auto line = std::make_shared<start_line>(size());
  unsigned shard = 0;
  try {
    for (; shard < size(); ++shard)
      threads_.emplace_back([this, shard, line] { live(shard, *line); });
  } catch (const std::system_error& why) {
    for (; shard < size(); ++shard) {
      mesh_.give_up(shard);
      line->arrived(error::from_errno(why.code().value()));
    }
  }
  const std::optional<error> why_not = line->wait();
  if (!why_not) return {};
  join();
  return fail(*why_not);
}

void runtime::join() {
  for (std::thread& each : threads_)
    if (each.joinable()) each.join();
  const std::lock_guard lock{mutex_};
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

result<void> runtime::run(main_function main) {
  if (auto up = start(std::move(main)); !up) return up;
  join();
  return {};
}

/// The first failure of all shards stops them, and is what run() gives.
template <class Work>
void runtime::guarded(Work work) {
  try {
    work();
  } catch (...) {
    fail_with(std::current_exception());
  }
}

void runtime::live(unsigned shard, start_line& line) {
  place_thread({.name = options_.name, .index = shard, .of = size(), .pin = options_.pin});
  loop_options options = options_.loop;
  options.shards = &mesh_;
  options.shard = shard;
  const auto loop = event_loop::create(options);
  if (!loop) {
    line.arrived(loop.error());
    return;
  }
  line.arrived();
  if (line.wait()) return;
  guarded([&] {
    (*loop)->spawn(serve_others(**loop));
    spawn_main(**loop);
  });
  guarded([&] { (*loop)->run(); });
}

void runtime::spawn_main(event_loop& loop) {
  const std::lock_guard lock{mutex_};
  loop.spawn(main_(loop));
}

void runtime::fail_with(std::exception_ptr why) {
  {
    const std::lock_guard lock{mutex_};
    if (!failure_) failure_ = std::move(why);
  }
  request_stop();
}

}  // namespace weft

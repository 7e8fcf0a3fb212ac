#include <weft/store/schema_looks.hpp>

#include <algorithm>

#include <weft/loop/sleep.hpp>

namespace weft::store {
namespace {

constexpr int pause_per_length = 10;

}  // namespace

task<result<void>> schema_looks::after_miss() {
  const std::uint64_t before = begun_;
  while (settled_ <= before) {
    if (!is_running_) {
      is_running_ = true;
      own_.spawn(run());
      continue;  // it may have been quick
    }
    if (const auto waited = co_await over_.wait(); !waited) co_return waited;
  }
  co_return outcome_;
}

task<void> schema_looks::run() {
  // The callers continue even if an exception ends the look.
  struct ending {
    schema_looks& of;
    result<void> outcome = fail(errc::exhausted);
    ~ending() { of.settle(outcome); }
  } end{*this};
  if (loop_.now() < next_) {
    if (const auto slept = co_await sleep_until{loop_, next_}; !slept) {
      ++begun_;
      end.outcome = slept;
      co_return;
    }
  }
  ++begun_;
  counted_.add();
  const time_point began = loop_.now();
  end.outcome = co_await look_();
  const time_point now = loop_.now();
  next_ = now + std::clamp(pause_per_length * (now - began), pause_min, pause_max);
}

void schema_looks::settle(result<void> outcome) noexcept {
  outcome_ = outcome;
  settled_ = begun_;
  is_running_ = false;
  over_.set();
  over_.reset();
}

}  // namespace weft::store

#include <weft/realtime/deferred_log.hpp>

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <csignal>
#include <exception>
#include <stdexcept>

#include <weft/loop/thread_place.hpp>

namespace weft::realtime {

short_text::short_text(std::string_view text) noexcept {
  constexpr std::string_view rest = "...";
  std::size_t kept = text.size();
  if (kept > bytes_max) {
    const auto is_within_character = [&](std::size_t at) {
      return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
    };
    kept = bytes_max - rest.size();
    while (kept != 0 && is_within_character(kept)) --kept;
  }
  text.copy(text_.data(), kept);
  size_ = static_cast<std::uint8_t>(kept);
  if (kept != text.size())
    size_ = static_cast<std::uint8_t>(size_ + rest.copy(text_.data() + kept, rest.size()));
}

namespace {

/// What is added to a time that clocks have is to be one that they can have.
constexpr duration longest_poll = std::chrono::hours{24};

deferred_log_options checked(const deferred_log_options& given) {
  if (!std::has_single_bit(given.lines))
    throw std::invalid_argument{"the lines of a deferred log are to be a power of two"};
  if (given.poll <= duration::zero() || given.poll > longest_poll)
    throw std::invalid_argument{
        "the poll of a deferred log is to be more than zero, and a day at most"};
  return given;
}

std::string time_of_day(std::chrono::system_clock::time_point when) {
  using namespace std::chrono;
  const auto exactly = floor<microseconds>(when);
  const hh_mm_ss time{exactly - floor<days>(exactly)};
  return weft::format("{:02}:{:02}:{:02}.{:06}", time.hours().count(), time.minutes().count(),
                      time.seconds().count(), time.subseconds().count());
}

void block_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  // Fails for no argument that is given here.
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

/// A realtime thread may have made it: its policy is not to be the log's.
void be_ordinary() noexcept {
  const sched_param lowest{};
  // At worst it keeps the priority of its maker.
  ::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &lowest);
}

}  // namespace

deferred_log::deferred_log(const deferred_log_options& options)
    : name_{checked(options).name},
      poll_{options.poll},
      size_{options.lines},
      ring_{std::make_unique<deferred_line[]>(options.lines)},
      thread_{[this] { work(); }} {
  unpin_thread(thread_.native_handle());
}

deferred_log::~deferred_log() {
  {
    const std::lock_guard held{lock_};
    ends_ = true;
  }
  ending_.notify_one();
  thread_.join();
}

/// nullptr: the ring is full.
deferred_line* deferred_log::claim(log::level at) noexcept {
  const std::uint64_t number = written_.load(std::memory_order_relaxed);
  const std::uint64_t lost_before = lost_.load(std::memory_order_relaxed);
  if (number - taken_seen_ == size_) taken_seen_ = taken_.load(std::memory_order_acquire);
  if (number - taken_seen_ == size_) {
    // One thread writes it. Who reads it sees the lines before that as well.
    lost_.store(lost_before + 1, std::memory_order_release);
    return nullptr;
  }
  deferred_line& line = ring_[number & (size_ - 1)];
  line.written_at = std::chrono::system_clock::now();
  line.lost_before = lost_before;
  line.at = at;
  return &line;
}

void deferred_log::publish() noexcept {
  written_.store(written_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void deferred_log::work() noexcept {
  block_signals();
  be_ordinary();
  // For people alone.
  ::pthread_setname_np(::pthread_self(), "deferred log");
  std::unique_lock held{lock_};
  while (!ends_) {
    held.unlock();
    drain();
    held.lock();
    ending_.wait_for(held, poll_, [this] { return ends_; });
  }
  drain();
}

void deferred_log::drain() noexcept {
  for (std::uint64_t next = taken_.load(std::memory_order_relaxed);;) {
    // Read before the ring is seen to be empty: what is lost later has lines before it.
    const std::uint64_t lost = lost_.load(std::memory_order_acquire);
    if (next == written_.load(std::memory_order_acquire)) return tell_losses(lost);
    const deferred_line& line = ring_[next & (size_ - 1)];
    tell_losses(line.lost_before);
    give_on(line);
    taken_.store(++next, std::memory_order_release);
  }
}

void deferred_log::give_on(const deferred_line& line) const noexcept {
  try {
    log::write({line.at, name_, time_of_day(line.written_at) + ' ' + line.format()});
  } catch (const std::exception& why) {  // there is no memory, or a formatter has thrown
    log::write({log::level::error, name_, why.what()});
  } catch (...) {
    log::write({log::level::error, name_, "a formatter has thrown what is no std::exception"});
  }
}

void deferred_log::tell_losses(std::uint64_t all) noexcept {
  if (all <= told_) return;
  const std::uint64_t untold = all - told_;
  told_ = all;
  try {
    log::write({log::level::warning, name_,
                weft::format("{} {} lost: {} waited already", untold,
                             untold == 1 ? "line" : "lines", size_)});
  } catch (const std::exception& why) {
    log::write({log::level::error, name_, why.what()});
  }
}

}  // namespace weft::realtime

#include <weft/realtime/thread_setup.hpp>

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/loop/thread_place.hpp>
#include <weft/realtime/scheduling_call.hpp>

namespace weft::realtime {
namespace {

constexpr std::size_t page_bytes = 4096;

/// What the system said; 0: done. Threads that this one makes, for files and the like, are not to
/// go before others.
int set_policy(const thread_setup& wanted) noexcept {
  const auto nanoseconds = [](duration of) { return static_cast<std::uint64_t>(of.count()); };
  scheduling_attributes given{.flags = scheduling_attributes::reset_on_fork};
  if (wanted.policy == scheduling::fifo) {
    given.policy = scheduling_attributes::fifo;
    given.priority = static_cast<std::uint32_t>(wanted.priority);
  } else {
    given.policy = scheduling_attributes::deadline;
    given.runtime_ns = nanoseconds(wanted.budget.runtime);
    given.deadline_ns = nanoseconds(wanted.budget.deadline);
    given.period_ns = nanoseconds(wanted.budget.period);
  }
  return given.apply();
}

/// Of the calling thread, for good.
[[gnu::noinline]] void touch_stack(std::size_t bytes) noexcept {
  auto* const room = static_cast<volatile std::byte*>(__builtin_alloca(bytes));
  for (std::size_t at = 0; at < bytes; at += page_bytes) room[at] = std::byte{1};
}

/// Room that the stack has below this frame.
std::size_t stack_left() noexcept {
  pthread_attr_t facts;
  if (::pthread_getattr_np(::pthread_self(), &facts) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  ::pthread_attr_getstack(&facts, &lowest, &size);
  ::pthread_attr_destroy(&facts);
  // Not the address of a variable, which a sanitizer may have put elsewhere.
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  return static_cast<std::size_t>(here - static_cast<const std::byte*>(lowest));
}

int fill_heap(std::size_t bytes) noexcept {
  // What is freed stays the program's, and large blocks come from the heap as well.
  ::mallopt(M_TRIM_THRESHOLD, -1);
  ::mallopt(M_MMAP_MAX, 0);
  void* const room = std::malloc(bytes);
  if (room == nullptr) return ENOMEM;
  auto* const pages = static_cast<volatile std::byte*>(room);
  for (std::size_t at = 0; at < bytes; at += page_bytes) pages[at] = std::byte{1};
  std::free(room);
  return 0;
}

int keep_awake(int& fd) noexcept {
  fd = ::open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const std::int32_t microseconds = 0;
  return ::write(fd, &microseconds, sizeof microseconds) == sizeof microseconds ? 0 : EIO;
}

/// A program is allowed by itself, or by who starts it.
std::string allow_priority(int priority) {
  return weft::format(
      "`setcap cap_sys_nice+ep PROGRAM`, `ulimit -r {0}` as root, or LimitRTPRIO={0} in its unit "
      "of "
      "systemd",
      priority);
}

class applier {
 public:
  explicit applier(applied_setup& into) noexcept : into_{into} {}

  /// `code`: what the system said; 0: done.
  void note(std::string wish, int code, std::string remedy) {
    setup_effect& made = into_.effects.emplace_back(std::move(wish), code == 0);
    if (made.is_applied) return;
    made.why = std::generic_category().message(code);
    made.remedy = std::move(remedy);
  }

 private:
  applied_setup& into_;
};

void apply_policy(const thread_setup& wanted, applier& to) {
  using std::chrono::microseconds;
  if (wanted.policy == scheduling::fifo)
    to.note(weft::format("SCHED_FIFO, priority {}", wanted.priority), set_policy(wanted),
            allow_priority(wanted.priority));
  if (wanted.policy != scheduling::deadline) return;
  const auto us = [](duration of) { return std::chrono::duration_cast<microseconds>(of).count(); };
  const deadline_budget& budget = wanted.budget;
  to.note(weft::format("SCHED_DEADLINE, {} of {} us within {}", us(budget.runtime),
                       us(budget.period), us(budget.deadline)),
          set_policy(wanted),
          "`setcap cap_sys_nice+ep PROGRAM`; a thread that may run on all CPUs; a runtime that is "
          "free of what sched_rt_runtime_us leaves");
}

void apply_memory(const thread_setup& wanted, applier& to) {
  if (wanted.lock_memory)
    to.note("memory locked", ::mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? 0 : errno,
            "`setcap cap_ipc_lock+ep PROGRAM`, `ulimit -l unlimited` as root, or "
            "LimitMEMLOCK=infinity in its unit of systemd");
  if (wanted.stack_bytes != 0) {
    const bool fits = wanted.stack_bytes + 4 * page_bytes < stack_left();
    if (fits) touch_stack(wanted.stack_bytes);
    to.note(weft::format("{} KiB of stack touched", wanted.stack_bytes / 1024), fits ? 0 : ENOMEM,
            "`ulimit -s` sets the size of stacks, in KiB");
  }
  if (wanted.heap_bytes != 0)
    to.note(weft::format("{} KiB of heap touched", wanted.heap_bytes / 1024),
            fill_heap(wanted.heap_bytes),
            "less of it, or a higher limit: `ulimit -v`, `ulimit -l`");
}

}  // namespace

applied_setup::applied_setup(applied_setup&& other) noexcept
    : effects{std::move(other.effects)}, wakefulness_fd{std::exchange(other.wakefulness_fd, -1)} {}

applied_setup::~applied_setup() {
  if (wakefulness_fd >= 0) ::close(wakefulness_fd);
}

bool applied_setup::is_whole() const noexcept {
  return std::ranges::all_of(effects, &setup_effect::is_applied);
}

applied_setup apply(const thread_setup& wanted) {
  applied_setup made;
  applier to{made};
  apply_memory(wanted, to);
  if (wanted.cpu)
    to.note(weft::format("on CPU {} alone", *wanted.cpu), pin_thread(*wanted.cpu),
            "a CPU that `taskset -p PID` shows; a container has those of its cpuset");
  if (wanted.timer_slack)
    to.note(weft::format("timers late by {} ns at most", wanted.timer_slack->count()),
            ::prctl(PR_SET_TIMERSLACK, wanted.timer_slack->count()) == 0 ? 0 : errno, "");
  if (wanted.keep_processors_awake)
    to.note("processors kept awake", keep_awake(made.wakefulness_fd),
            "root, or `chmod o+w /dev/cpu_dma_latency` by a rule of udev; in a virtual machine the "
            "host decides");
  apply_policy(wanted, to);  // last: what went before is not to be done with priority
  return made;
}

std::string to_line(const setup_effect& effect, std::size_t width) {
  std::string line = effect.wish;
  line.resize(std::max(width, line.size()), ' ');
  line += effect.is_applied ? "  yes" : "  NO: " + effect.why;
  if (!effect.remedy.empty()) line += "; to allow it: " + effect.remedy;
  return line;
}

std::string to_table(const std::vector<setup_effect>& effects) {
  std::size_t widest = 0;
  for (const setup_effect& each : effects) widest = std::max(widest, each.wish.size());
  std::string table;
  for (const setup_effect& each : effects) {
    if (!table.empty()) table += '\n';
    table += to_line(each, widest);
  }
  return table;
}

}  // namespace weft::realtime

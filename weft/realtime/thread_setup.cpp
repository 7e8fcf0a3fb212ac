#include <weft/realtime/thread_setup.hpp>

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <new>
#include <ratio>
#include <string>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/loop/thread_place.hpp>
#include <weft/realtime/cpu_group.hpp>
#include <weft/realtime/kernel_file.hpp>
#include <weft/realtime/scheduling_call.hpp>

namespace weft::realtime {
namespace {

constexpr std::size_t page_bytes = 4096;
/// For what is called meanwhile.
constexpr std::size_t spare_stack_bytes = 4 * page_bytes;

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
  // Fails for no attributes of a thread that runs.
  ::pthread_attr_getstack(&facts, &lowest, &size);
  // Always succeeds.
  ::pthread_attr_destroy(&facts);
  // Not the address of a variable, which a sanitizer may have put elsewhere.
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  return static_cast<std::size_t>(here - static_cast<const std::byte*>(lowest));
}

/// Less than 1 ns is no slack to the kernel: 0 asks for the default, and what is negative for more
/// than a program lives.
int set_timer_slack(duration slack) noexcept {
  if (slack < duration{1}) return EINVAL;
  return ::prctl(PR_SET_TIMERSLACK, slack.count()) == 0 ? 0 : errno;
}

struct heap_block {
  heap_block* next;
};

/// Several fit into the 64 MiB of a part of a thread's arena.
constexpr std::size_t heap_block_bytes = std::size_t{16} * 1024 * 1024;

/// The heads of all blocks that heaps were filled with. They stay for ever: a part of an arena in
/// which nothing is used would be given back.
constinit std::atomic<heap_block*> kept_heads{nullptr};

heap_block* touched_block(std::size_t bytes, heap_block* next) noexcept {
  void* const room = std::malloc(bytes);
  if (room == nullptr) return nullptr;
  auto* const pages = static_cast<volatile std::byte*>(room);
  for (std::size_t at = 0; at < bytes; at += page_bytes) pages[at] = std::byte{1};
  return ::new (room) heap_block{next};
}

/// All but their heads is free then.
void free_blocks(heap_block* first) noexcept {
  while (first != nullptr) {
    heap_block* const next = first->next;
    void* const head = std::realloc(first, sizeof(heap_block));  // shrinks where it is
    heap_block* const kept = ::new (head == nullptr ? first : head) heap_block{nullptr};
    kept->next = kept_heads.exchange(kept);
    first = next;
  }
}

int fill_heap(std::size_t bytes) noexcept {
  // What is freed stays the program's, and large blocks come from the heap as well.
  // Another allocator than glibc's knows neither.
  ::mallopt(M_TRIM_THRESHOLD, -1);
  ::mallopt(M_MMAP_MAX, 0);  // as above
  heap_block* filled = nullptr;
  int code = 0;
  for (std::size_t left = bytes; left != 0 && code == 0;) {
    const std::size_t part = std::min(left, heap_block_bytes);
    heap_block* const block = touched_block(std::max(part, sizeof(heap_block)), filled);
    if (block == nullptr) code = ENOMEM;
    if (block != nullptr) filled = block;
    left -= part;
  }
  free_blocks(filled);
  return code;
}

int keep_awake(int& fd) noexcept {
  fd = ::open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const std::int32_t microseconds = 0;
  return ::write(fd, &microseconds, sizeof microseconds) == sizeof microseconds ? 0 : EIO;
}

// Remedies are for what the system said; where none is known, none is told.

/// A control group that has no time for realtime threads has none, whatever their rights.
std::string allow_group() {
  const auto folder = cpu_group_folder();
  if (!folder) return {};
  const std::string file = *folder + "/cpu.rt_runtime_us";
  return number_in(file.c_str()) == 0 ? weft::format("more than 0 in {}, and ", file) : "";
}

/// A program is allowed by itself, or by who starts it.
std::string allow_priority(int priority, int code) {
  if (code == EINVAL) return "a priority from 1 to 99";
  if (code != EPERM) return {};
  return weft::format(
      "{0}`setcap cap_sys_nice+ep PROGRAM`, `ulimit -r {1}` as root, or LimitRTPRIO={1} in its "
      "unit of systemd",
      allow_group(), priority);
}

std::string allow_budget(int code) {
  switch (code) {
    case EPERM: return "`setcap cap_sys_nice+ep PROGRAM`; a thread that may run on all CPUs";
    case EBUSY:
      return "less of a processor: all such threads together may have what sched_rt_runtime_us "
             "leaves";
    case EINVAL:
      return "a runtime of 1024 ns or more, a deadline and a period, none longer than the next, "
             "and a period from kernel.sched_deadline_period_min_us to _max_us";
    default: return {};
  }
}

std::string allow_cpu(int code) {
  return code == EINVAL ? "a CPU that `taskset -p PID` shows; a container has those of its cpuset"
                        : "";
}

std::string allow_lock(int code) {
  if (code != EPERM && code != ENOMEM && code != EAGAIN) return {};
  return "`setcap cap_ipc_lock+ep PROGRAM`, `ulimit -l unlimited` as root, or "
         "LimitMEMLOCK=infinity in its unit of systemd";
}

std::string allow_wakefulness(int code) {
  switch (code) {
    case EACCES:
    case EPERM:
      return "root, or `chmod o+w /dev/cpu_dma_latency` by a rule of udev; in a virtual machine "
             "the host decides";
    case ENOENT:
      return "a kernel with CONFIG_CPU_IDLE; in a container, its /dev/cpu_dma_latency given to it";
    default: return {};
  }
}

class applier {
 public:
  explicit applier(applied_setup& into) noexcept : into_{into} {}

  /// `code`: what the system said; 0: done. `remedy` is asked for it.
  template <class Remedy>
  void note(std::string wish, int code, Remedy remedy) {
    setup_effect& made = into_.effects.emplace_back(std::move(wish), code == 0);
    if (made.is_applied) return;
    made.why = std::generic_category().message(code);
    made.remedy = remedy(code);
  }

 private:
  applied_setup& into_;
};

/// To the nanosecond where it has to be: "1000", "0.1".
std::string microseconds_of(duration length) {
  std::string text =
      weft::format("{:.3f}", std::chrono::duration<double, std::micro>{length}.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void apply_policy(const thread_setup& wanted, applier& to) {
  if (wanted.policy == scheduling::fifo)
    to.note(weft::format("SCHED_FIFO, priority {}", wanted.priority), set_policy(wanted),
            [&](int code) { return allow_priority(wanted.priority, code); });
  if (wanted.policy != scheduling::deadline) return;
  const deadline_budget& budget = wanted.budget;
  to.note(weft::format("SCHED_DEADLINE, {} of {} us within {}", microseconds_of(budget.runtime),
                       microseconds_of(budget.period), microseconds_of(budget.deadline)),
          set_policy(wanted), &allow_budget);
}

void apply_memory(const thread_setup& wanted, applier& to) {
  if (wanted.lock_memory)
    to.note("memory locked", ::mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? 0 : errno, &allow_lock);
  if (wanted.stack_bytes != 0) {
    const std::size_t left = stack_left();
    const bool fits = left > spare_stack_bytes && wanted.stack_bytes < left - spare_stack_bytes;
    if (fits) touch_stack(wanted.stack_bytes);
    to.note(weft::format("{} KiB of stack touched", wanted.stack_bytes / 1024), fits ? 0 : ENOMEM,
            [](int) { return "`ulimit -s` sets the size of stacks, in KiB"; });
  }
  if (wanted.heap_bytes != 0)
    to.note(weft::format("{} KiB of heap touched", wanted.heap_bytes / 1024),
            fill_heap(wanted.heap_bytes),
            [](int) { return "less of it, or a higher limit: `ulimit -v`, `ulimit -l`"; });
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
    to.note(weft::format("on CPU {} alone", *wanted.cpu), pin_thread(*wanted.cpu), &allow_cpu);
  if (wanted.timer_slack)
    to.note(weft::format("timers late by {} ns at most", wanted.timer_slack->count()),
            set_timer_slack(*wanted.timer_slack), [](int) { return "1 ns or more"; });
  if (wanted.keep_processors_awake)
    to.note("processors kept awake", keep_awake(made.wakefulness_fd), &allow_wakefulness);
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

#include <weft/loop/uring/ring.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <tuple>

#include <weft/loop/kernel_clock.hpp>
#include <weft/loop/needed_calls.hpp>

namespace weft {
namespace {

constexpr unsigned submission_entries = 1024;
constexpr unsigned completion_entries = 8 * submission_entries;
constexpr unsigned common_flags =
    IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_TASKRUN_FLAG;

struct rung {
  std::string_view name;
  unsigned flags;
};

/// Tried from the top: each needs an older kernel than the one before.
constexpr std::array ladder = {
    rung{"deferred task work",  // Linux 6.1
         common_flags | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN},
    rung{"cooperative task work",  // Linux 6.0
         common_flags | IORING_SETUP_COOP_TASKRUN},
};

/// Rings that have ended. liburing maps and unmaps by system calls of its own, which
/// ThreadSanitizer does not see: counting them tells it that a ring at the address of an earlier
/// one, of another thread, comes after that.
std::atomic<unsigned> ended_rings{0};

/// Of a call that has failed, with its errno.
[[gnu::noinline, gnu::cold]] void judge_failure(int code) noexcept {
  switch (code) {
    case EINTR:
    case ETIME:  // the wait is over
    case EBUSY:  // answers have to be taken first
      return;
    case EAGAIN:
    case ENOMEM: {
      // The kernel is short of memory: asked again at once it would be no less so.
      const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
      // A signal may end it early.
      std::ignore = ::nanosleep(&pause, nullptr);
      return;
    }
    default: end_refused_loop({.name = "io_uring_enter", .code = code});
  }
}

/// `answered`: by liburing, a count or a negated errno.
void judge(int answered) noexcept {
  if (answered < 0) [[unlikely]]
    judge_failure(-answered);
}

}  // namespace

ring::~ring() {
  if (!open_) return;
  ended_rings.fetch_add(1, std::memory_order_release);
  io_uring_queue_exit(&ring_);
}

result<void> ring::open(std::string& why) {
  int code = 0;
  for (const rung& step : ladder) {
    io_uring_params parameters{};
    parameters.flags = step.flags;
    parameters.cq_entries = completion_entries;
    code = -io_uring_queue_init_params(submission_entries, &ring_, &parameters);
    if (code == 0) {
      open_ = true;
      std::ignore = ended_rings.load(std::memory_order_acquire);
      mode_ = step.name;
      // Spares the kernel a look-up of the ring's file at every call; a refusal costs only that.
      std::ignore = io_uring_register_ring_fd(&ring_);
      code = try_out();
      if (code == 0) return {};
      why = refused_call{.name = "io_uring_enter", .code = code}.message();
      return fail(error::from_errno(code));
    }
    if (code != EINVAL) break;
  }
  why = refused_call{.name = "io_uring_setup", .code = code}.message();
  return fail(code == EINVAL || code == ENOSYS ? error{errc::unsupported, code}
                                               : error::from_errno(code));
}

/// One entry there and back: a policy may forbid to use what it lets us make. An errno; 0: it
/// works.
int ring::try_out() noexcept {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  if (entry == nullptr) return ENOSPC;
  io_uring_prep_nop(entry);
  int answered = 0;
  do answered = io_uring_submit_and_wait(&ring_, 1);
  while (answered == -EINTR);
  if (answered < 0) return -answered;
  io_uring_cqe* answer = nullptr;
  if (const int missing = io_uring_peek_cqe(&ring_, &answer); missing != 0) return -missing;
  const int failed = -answer->res;
  io_uring_cqe_seen(&ring_, answer);
  return failed;
}

io_uring_sqe& ring::prepare() noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  while (entry == nullptr) {
    judge(io_uring_submit(&ring_));
    entry = io_uring_get_sqe(&ring_);
  }
  return *entry;
}

bool ring::kernel_has_work() noexcept {
  constexpr unsigned wants_entry = IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW;
  return has_entries() || (IO_URING_READ_ONCE(*ring_.sq.kflags) & wants_entry) != 0;
}

void ring::enter(time_point until) noexcept {
  if (io_uring_cq_ready(&ring_) != 0) until = time_point::min();
  if (until == time_point::min()) {
    if (kernel_has_work()) judge(io_uring_submit_and_get_events(&ring_));
    return;
  }
  io_uring_cqe* first = nullptr;
  if (until == time_point::max()) {
    judge(io_uring_submit_and_wait_timeout(&ring_, &first, 1, nullptr, nullptr));
    return;
  }
  const duration left = kernel_clock::left_until(until);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  __kernel_timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  judge(io_uring_submit_and_wait_timeout(&ring_, &first, 1, &timeout, nullptr));
}

}  // namespace weft
